//! The configuration of servers.

use std::error::Error as _;

use tool_mcp::{ServersConfig, UpstreamState, Upstreams};
use tool_registry::Registry;

#[track_caller]
fn problem(entry: &str, expected: &str) {
    let text = format!(r#"{{"mcpServers": {{"odd": {entry}, "good": {{"command": "x"}}}}}}"#);
    let config = ServersConfig::from_json(&text).expect("one entry spoils no other");
    let problems: Vec<_> = config.problems().map(ToString::to_string).collect();
    assert_eq!(problems, [format!("server \"odd\"{expected}")]);
    let servers: Vec<_> = config
        .servers()
        .map(|server| server.name().as_str())
        .collect();
    assert_eq!(servers, ["good"]);
}

#[test]
fn what_other_clients_write_is_read() {
    let config = ServersConfig::from_json(
        r#"{
            "theme": "dark",
            "mcpServers": {
                "git": {"type": "stdio", "command": "uvx", "args": ["mcp-server-git"],
                        "env": {"A": "1"}, "cwd": "/srv", "autoApprove": [], "timeout": 60},
                "bare": {"command": "server", "args": null, "env": null}
            }
        }"#,
    )
    .expect("it is what clients write");
    assert_eq!(config.problems().count(), 0);
    let servers: Vec<_> = config
        .servers()
        .map(|server| (server.name().as_str(), server.command()))
        .collect();
    assert_eq!(servers, [("bare", "server"), ("git", "uvx")]);
}

#[test]
fn a_malformed_entry_fails_alone_and_names_its_key() {
    problem("5", ": is no object");
    problem("{}", ", key \"command\": is missing");
    problem(r#"{"command": 5}"#, ", key \"command\": is no string");
    problem(r#"{"command": " "}"#, ", key \"command\": is blank");
    problem(
        r#"{"command": "x", "args": "y"}"#,
        ", key \"args\": is no array",
    );
    problem(
        r#"{"command": "x", "args": ["y", 5]}"#,
        ", key \"args.1\": is no string",
    );
    problem(
        r#"{"command": "x", "env": []}"#,
        ", key \"env\": is no object",
    );
    problem(
        r#"{"command": "x", "env": {"PORT": 5}}"#,
        ", key \"env.PORT\": is no string",
    );
    problem(
        r#"{"command": "x", "env": {"A=B": ""}}"#,
        ", key \"env.A=B\": is no name of a variable",
    );
    problem(
        r#"{"command": "x", "args": ["\u0000"]}"#,
        ", key \"args.0\": holds a NUL character",
    );
    problem(
        r#"{"command": "x", "cwd": {}}"#,
        ", key \"cwd\": is no string",
    );
    problem(
        r#"{"command": "x", "url": "http://h"}"#,
        ", key \"url\": stands beside \"command\"",
    );
}

#[test]
fn everything_that_is_wrong_with_an_entry_is_told_at_once_with_the_nearest_keys() {
    let text = r#"{"mcpServers": {
        "odd": {
            "comand": "x", "args": ["a", 1], "env": {"A=": 2, "B": "\u0000"}, "cwd": 3,
            "prefix": "bwrap", "theirs": true, "Env": {}, "overlay": {"hint": "shown"}
        },
        "both": {"command": 5, "url": "http://h", "args": {}, "headers": {"a b": 1}},
        "fine": {"command": "x", "Args": [], "auth": {"theirs": true}},
        "paused": {"disabled": true, "comand": "x"}
    }}"#;
    let config = ServersConfig::from_json(text).expect("it is read");
    let problems: Vec<_> = config.problems().map(ToString::to_string).collect();
    let headers = "server \"both\", key \"headers.a b\": is no name of a header";
    assert_eq!(
        problems,
        [
            "server \"both\", key \"url\": stands beside \"command\"",
            "server \"both\", key \"command\": is no string",
            "server \"both\", key \"args\": is no array",
            headers,
            "server \"both\", key \"headers.a b\": is no string",
            "server \"odd\", key \"command\": is missing",
            "server \"odd\", key \"args.1\": is no string",
            "server \"odd\", key \"prefix\": is no array",
            "server \"odd\", key \"env.A=\": is no name of a variable",
            "server \"odd\", key \"env.A=\": is no string",
            "server \"odd\", key \"env.B\": holds a NUL character",
            "server \"odd\", key \"cwd\": is no string",
            "server \"odd\", key \"overlay.hint\": is not known; did you mean \"hints\"?",
            "server \"odd\", key \"Env\": is not known; did you mean \"env\"?",
            "server \"odd\", key \"comand\": is not known; did you mean \"command\"?",
        ]
    );
    // What works all the same is no problem of the entry.
    let unknown: Vec<_> = config
        .unknown_keys()
        .map(|unknown| (&*unknown.server, &*unknown.key, unknown.nearest))
        .collect();
    assert_eq!(unknown, [("fine", "Args", "args")]);
}

#[cfg(feature = "oauth")]
#[test]
fn a_key_of_a_login_that_is_not_known_is_refused_with_the_nearest_one() {
    let text = r#"{"mcpServers": {"odd": {
        "url": "https://h/mcp", "bearerEnv": "T",
        "oauth": {"isuer": "https://as", "clientSecretEnv": "S=", "scopes": [1], "metadataUrl": "x"}
    }}}"#;
    let config = ServersConfig::from_json(text).expect("it is read");
    let problems: Vec<_> = config.problems().map(ToString::to_string).collect();
    let of = |key: &str, problem: &str| format!("server \"odd\", key \"oauth{key}\": {problem}");
    assert_eq!(
        problems,
        [
            of("", "stands beside a token of its own"),
            of(".isuer", "is not known; did you mean \"issuer\"?"),
            of(".scopes.0", "is no string"),
            of(".clientSecretEnv", "is no name of a variable"),
            of(
                ".clientSecretEnv",
                "stands without the \"clientId\" that it is the secret of"
            ),
            of(".metadataUrl", "is no https address with a path"),
        ]
    );
}

#[cfg(not(feature = "http-client"))]
#[test]
fn a_server_over_http_says_that_this_build_cannot() {
    problem(
        r#"{"url": "https://h"}"#,
        ", key \"url\": servers over HTTP are not supported by this build",
    );
}

#[cfg(feature = "http-client")]
#[test]
fn a_server_over_http_is_encrypted_or_on_this_machine_and_names_its_wrong_key() {
    for url in [
        "http://h",
        "http://10.0.0.1:80/mcp",
        "http://localhost.evil.com/",
    ] {
        problem(
            &format!(r#"{{"url": "{url}"}}"#),
            ", key \"url\": is not encrypted and leads to another machine; use https",
        );
    }
    for (entry, text) in [
        (
            r#"{"url": "file:///x"}"#,
            ", key \"url\": is neither https nor http",
        ),
        (
            r#"{"url": "http://localhost@evil.com"}"#,
            ", key \"url\": holds a user name or password; use \"headers\"",
        ),
        (
            r#"{"url": "https://user:secret@h/mcp"}"#,
            ", key \"url\": holds a user name or password; use \"headers\"",
        ),
        (
            r#"{"url": "http://localhost", "args": []}"#,
            ", key \"args\": is for servers with a \"command\"",
        ),
        (
            r#"{"url": "http://localhost", "headers": {"a b": "c"}}"#,
            ", key \"headers.a b\": is no name of a header",
        ),
        (
            r#"{"url": "http://localhost", "headers": {"Mcp-Method": "c"}}"#,
            ", key \"headers.Mcp-Method\": is set by the client itself",
        ),
        (
            r#"{"url": "http://localhost", "headers": {"x": "a\r\nb: c"}}"#,
            ", key \"headers.x\": holds a control character",
        ),
        (
            r#"{"url": "http://localhost", "headers": {"Authorization": "x"}, "bearerEnv": "T"}"#,
            ", key \"bearerEnv\": stands beside a header \"authorization\"",
        ),
        (
            r#"{"command": "x", "bearerEnv": "T"}"#,
            ", key \"bearerEnv\": is for servers with a \"url\"",
        ),
    ] {
        problem(entry, text);
    }
    let encrypted = "https://h/mcp";
    if cfg!(not(feature = "http-client-tls")) {
        problem(
            &format!(r#"{{"url": "{encrypted}"}}"#),
            ", key \"url\": is encrypted, which this build cannot speak: it lacks the feature \"http-client-tls\"",
        );
    }
    let local = [
        "http://127.0.0.1:80/mcp",
        "http://[::1]/",
        "http://LOCALHOST",
    ];
    let encrypted = [encrypted]
        .into_iter()
        .filter(|_| cfg!(feature = "http-client-tls"));
    for url in encrypted.chain(local) {
        let text = format!(r#"{{"mcpServers": {{"ok": {{"url": "{url}"}}}}}}"#);
        let config = ServersConfig::from_json(&text).expect("it is well formed");
        let urls: Vec<_> = config.servers().map(tool_mcp::ServerConfig::url).collect();
        assert_eq!(urls, [Some(url)]);
    }
}

#[test]
fn two_servers_of_one_name_are_a_problem_of_that_name() {
    problem(
        r#"{"command": "x"}, "odd": {"command": "y"}"#,
        ": stands twice",
    );
}

#[test]
fn a_name_that_is_no_namespace_is_a_problem() {
    let config = ServersConfig::from_json(r#"{"mcpServers": {"a..b": {"command": "x"}}}"#)
        .expect("the file is well formed");
    let problems: Vec<_> = config.problems().map(|problem| problem.server()).collect();
    assert_eq!(problems, ["a..b"]);
}

#[test]
fn a_file_that_is_none_says_where_it_ends_to_be_one() {
    let error = ServersConfig::from_json("{\"mcpServers\": {").expect_err("it is cut");
    assert_eq!(
        error.to_string(),
        "server configuration is not readable as JSON"
    );
    assert!(
        error
            .source()
            .is_some_and(|source| source.to_string().contains("line 1"))
    );
    for text in ["[]", "{}", r#"{"mcpServers": []}"#] {
        let error = ServersConfig::from_json(text).expect_err("it names no servers");
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn values_are_never_printed() {
    let text = r#"{"mcpServers": {
        "a": {"command": "x", "args": ["CANARY"], "env": {"TOKEN": "CANARY"}},
        "b": {"command": "x", "env": {"TOKEN": ["CANARY"]}}
    }}"#;
    let config = ServersConfig::from_json(text).expect("it is well formed");
    assert!(!format!("{config:?}").contains("CANARY"));
    assert!(
        config
            .problems()
            .all(|problem| !problem.to_string().contains("CANARY"))
    );
}

#[tokio::test]
async fn entries_that_do_not_start_are_shown_beside_the_others() {
    let config = ServersConfig::from_json(
        r#"{"mcpServers": {
            "http": {"url": "gopher://example.com"},
            "paused": {"command": "x", "disabled": true},
            "odd": {"command": []}
        }}"#,
    )
    .expect("it is well formed");
    let upstreams = Upstreams::builder(config).connect(&Registry::default());
    upstreams.settled().await;
    let states: Vec<_> = upstreams
        .statuses()
        .into_iter()
        .map(|status| (status.name, status.state))
        .collect();
    let failed = |reason: &str| UpstreamState::Failed {
        reason: reason.to_owned(),
    };
    assert_eq!(
        states,
        [
            (
                "http".to_owned(),
                failed(if cfg!(feature = "http-client") {
                    "key \"url\": is neither https nor http"
                } else {
                    "key \"url\": servers over HTTP are not supported by this build"
                })
            ),
            ("odd".to_owned(), failed("key \"command\": is no string")),
            ("paused".to_owned(), UpstreamState::Disabled),
        ]
    );
    upstreams.shutdown().await;
}
