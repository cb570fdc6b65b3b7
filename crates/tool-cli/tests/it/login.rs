//! Logging in to servers.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Stdio};

use serde_json::json;

use crate::invocation::{drain, wait};
use crate::login_site::LoginSite;
use crate::serving::Serving;
use crate::stdio_client::StdioClient;
use crate::workbench::Workbench;

const CONFIG: [&str; 2] = ["--mcp-config", "mcp.json"];

/// A workbench with one server that wants to know who calls.
fn bench(site: &LoginSite) -> Workbench {
    let bench = Workbench::new();
    let servers = json!({"mcpServers": {"tickets": {"url": site.url()}}});
    bench.file("mcp.json", &servers.to_string());
    bench.file(
        "open.toml",
        "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"call\"\nresource = \"*\"\n",
    );
    bench
}

/// What a program said of a login: on its standard output, and beside.
struct Said {
    stdout: String,
    stderr: String,
}

/// Logs in as a person would who opens the page that is shown, and agrees.
fn log_in(bench: &Workbench, args: &[&str]) -> Said {
    let mut child = bench
        .tool(&["login", "tickets"])
        .args(CONFIG)
        .args(args.iter().copied())
        .env("TOOL_LOG", "trace")
        .into_command()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout: ChildStdout = child.stdout.take().unwrap();
    let stdout = drain(stdout);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut stderr = String::new();
    let page = loop {
        let line = lines.next().expect("the page is shown").unwrap();
        stderr.push_str(&line);
        stderr.push('\n');
        if let Some(url) = line.trim().strip_prefix("http://") {
            break url.to_owned();
        }
    };
    let value = |name: &str| {
        let (_, rest) = page.split_once(&format!("{name}=")).unwrap();
        rest.split('&').next().unwrap().to_owned()
    };
    let back = value("redirect_uri")
        .replace("%3A", ":")
        .replace("%2F", "/");
    let host = back
        .strip_prefix("http://")
        .unwrap()
        .split('/')
        .next()
        .unwrap()
        .to_owned();
    let mut stream = TcpStream::connect(&host).unwrap();
    write!(
        stream,
        "GET /callback?code=canary-code&state={} HTTP/1.1\r\nhost: {host}\r\n\r\n",
        value("state")
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for line in lines.map_while(Result::ok) {
        stderr.push_str(&line);
        stderr.push('\n');
    }
    let status = wait(&mut child).expect("it ends");
    assert!(status.success(), "{stderr}");
    Said {
        stdout: String::from_utf8(stdout.join().unwrap()).unwrap(),
        stderr,
    }
}

/// The files below a folder that hold a text.
fn holding(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(!path.to_string_lossy().contains(text), "{path:?}");
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text) {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_login_is_shown_made_used_and_forgotten() {
    let site = LoginSite::start();
    let bench = bench(&site);
    bench
        .tool(&["list"])
        .args(CONFIG)
        .end()
        .says(&["locked", "needs a login: `tool login tickets`"]);

    // It waits for the servers before it answers.
    let serve = bench.tool(&["serve"]).args(CONFIG);
    let told = StdioClient::start(serve).call("server_status", json!({}));
    assert_eq!(
        told["structuredContent"]["servers"],
        json!([{"name": "tickets", "state": "locked", "note": "an operator has to log in to it"}])
    );

    let said = log_in(&bench, &[]);
    assert!(
        said.stderr
            .contains("log in to server tickets at 127.0.0.1, for read:")
    );
    let expected = "logged in to tickets by http://127.0.0.1";
    assert!(said.stdout.starts_with(expected), "{}", said.stdout);
    assert!(
        said.stdout
            .trim_end()
            .ends_with("for read, renewed without you")
    );

    let called = bench
        .tool(&["call", "tickets__echo", "--policy", "open.toml"])
        .args(CONFIG)
        .end()
        .succeeded();
    assert_eq!(called.text().trim(), "heard");

    let out = bench.tool(&["logout", "tickets"]).end().succeeded();
    assert_eq!(out.text(), "logged out of tickets\n");
    assert!(
        out.stderr
            .starts_with("its tokens were revoked by http://127.0.0.1"),
        "{out:?}"
    );
    assert!(site.asked().contains("POST /revoke "));
    bench
        .tool(&["list"])
        .args(CONFIG)
        .end()
        .says(&["needs a login: `tool login tickets`"]);
    // What is configured wrong keeps nothing, and is said.
    let broken = json!({"mcpServers": {"tickets": {"url": 1}}}).to_string();
    for (text, problem) in [
        (broken.as_str(), "key \"url\": is no string"),
        ("{", "bad.json"),
    ] {
        bench.file("bad.json", text);
        log_in(&bench, &[]);
        let out = bench
            .tool(&["logout", "tickets", "--mcp-config", "bad.json"])
            .end()
            .succeeded();
        assert_eq!(out.text(), "logged out of tickets\n");
        out.says(&[
            "the login is ended without what is configured for it: ",
            problem,
            "its tokens were revoked by",
        ]);
    }
    let again = bench.tool(&["logout", "tickets", "--json"]).end().json();
    assert_eq!(again, json!({"server": "tickets", "loggedOut": false}));
    assert_eq!(holding(&bench.state(), "canary"), Vec::<PathBuf>::new());
}

#[test]
fn s2_what_a_login_gives_is_in_one_private_file_and_nowhere_else() {
    let site = LoginSite::start();
    let bench = bench(&site);
    let said = log_in(&bench, &["--json"]);
    let document: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(document["scopes"], json!(["read"]));
    assert_eq!(document["renews"], true);
    let called = bench
        .tool(&["call", "tickets__echo", "--policy", "open.toml"])
        .args(CONFIG)
        .env("TOOL_LOG", "trace")
        .end()
        .succeeded();
    for text in [&said.stdout, &said.stderr, &called.stderr] {
        // Of what is seen of others, the log of the whole process is the most.
        let line = text.lines().find(|line| line.contains("canary"));
        assert_eq!(line, None);
    }
    for secret in ["canary-access", "canary-refresh", "canary-secret"] {
        let files = holding(bench.path(), secret);
        assert_eq!(files.len(), 1, "{secret}: {files:?}");
        let mode = fs::metadata(&files[0]).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{files:?}");
        let folder = files[0].parent().unwrap();
        let mode = fs::metadata(folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{folder:?}");
    }
    assert_eq!(holding(bench.path(), "canary-code"), Vec::<PathBuf>::new());
}

#[test]
fn a_gateway_that_runs_goes_on_once_somebody_is_logged_in() {
    let site = LoginSite::start();
    let bench = bench(&site);
    let serve = bench
        .tool(&["serve"])
        .args(CONFIG)
        .args(["--policy", "open.toml"]);
    let serving = Serving::start(serve.env("TOOL_LOG", "tool_mcp=info"));
    serving.said("needs a login: `tool login tickets`");
    log_in(&bench, &[]);
    serving.said("server is ready");
    assert!(site.asked().contains("authorization: Bearer canary-access"));
}

#[test]
fn what_cannot_be_logged_in_to_is_named_with_the_way_out() {
    let site = LoginSite::start();
    let bench = bench(&site);
    bench
        .tool(&["login", "tickets"])
        .end()
        .with_code(2)
        .says(&["say with --mcp-config where server \"tickets\" is configured"]);
    bench
        .tool(&["login", "other"])
        .args(CONFIG)
        .end()
        .with_code(2)
        .says(&["it names tickets"]);
    let servers = json!({"mcpServers": {"own": {"command": "true"}}});
    bench.file("own.json", &servers.to_string());
    bench
        .tool(&["login", "own", "--mcp-config", "own.json"])
        .end()
        .with_code(2)
        .says(&["server own is a process, and nobody logs in to it"]);

    // One that has to be approved is not approved by a login.
    let servers =
        json!({"mcpServers": {"held": {"url": site.url(), "overlay": {"trust": "approve"}}}});
    bench.file("approve.json", &servers.to_string());
    let held = || {
        let login = ["login", "held", "--mcp-config", "approve.json"];
        bench
            .tool(&login)
            .end()
            .with_code(2)
            .says(&["`tool pin diff held` shows it"]);
    };
    held();
    let status = bench.tool(&["pin", "status"]).end().succeeded();
    assert!(
        status.text().contains("held: not trusted to be started\n"),
        "{}",
        status.text()
    );
    held();

    // One that is reached in another way than was trusted waits for approval first.
    log_in(&bench, &[]);
    let servers = json!({"mcpServers": {"tickets": {"url": "http://127.0.0.1:1/mcp"}}});
    bench.file("mcp.json", &servers.to_string());
    bench
        .tool(&["login", "tickets"])
        .args(CONFIG)
        .end()
        .with_code(2)
        .says(&["`tool pin diff tickets` shows it"]);
}
