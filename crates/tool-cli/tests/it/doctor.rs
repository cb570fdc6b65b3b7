//! What `tool doctor` finds.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::pin::servers;
use crate::workbench::Workbench;

fn mode(path: &std::path::Path, mode: u32) {
    set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// What is wrong, as `about: says`.
fn problems(document: &Value) -> Vec<String> {
    let findings = document["findings"].as_array().unwrap().iter();
    let wrong = findings.filter(|finding| finding["level"] == "problem");
    wrong
        .map(|finding| {
            // Every problem has a way out.
            assert!(
                finding["fix"].as_str().is_some_and(|fix| !fix.is_empty()),
                "{finding}"
            );
            format!(
                "{}: {}",
                finding["about"].as_str().unwrap(),
                finding["says"].as_str().unwrap()
            )
        })
        .collect()
}

#[test]
fn a_setup_without_a_flaw_has_status_0_and_nothing_is_trusted_by_a_look() {
    let bench = Workbench::new();
    servers(&bench, &[]);
    let doctor = ["--mcp-config", "mcp.json", "--json", "doctor"];
    let ended = bench.tool(&doctor).end().succeeded();
    let document = ended.json();
    assert_eq!(
        (&document["ok"], problems(&document).len()),
        (&json!(true), 0)
    );
    let server = &document["servers"][0];
    assert_eq!(
        (
            &server["name"],
            &server["state"],
            &server["protocol"],
            &server["tools"]
        ),
        (
            &json!("own"),
            &json!("ready"),
            &json!("2026-07-28"),
            &json!(7)
        )
    );
    assert!(server["listed_in_ms"].is_u64());
    assert!(
        server["launch"]
            .as_str()
            .unwrap()
            .contains(" serve --root served")
    );
    ended.says(&["server own was never started, and is started now for a look: "]);
    let status = bench.tool(&["pin", "status"]).end().succeeded();
    status.says(&["no server was ever started"]);
    let shown = bench
        .tool(&["--mcp-config", "mcp.json", "doctor"])
        .end()
        .succeeded();
    assert!(
        shown
            .text()
            .contains("ok       server own: listed 7 tools in "),
        "{}",
        shown.text()
    );
}

#[test]
fn s43_launchers_without_a_version_and_files_that_anybody_may_write_are_found() {
    let bench = Workbench::new();
    // Nothing is fetched: there is no such folder to start them in.
    let config = json!({"mcpServers": {
        "node": {"command": "npx", "args": ["-y", "pkg"], "cwd": "nowhere"},
        "python": {"command": "uvx", "args": ["pkg"], "cwd": "nowhere"},
        "pinned": {"command": "npx", "args": ["-y", "pkg@1.2.3"], "cwd": "nowhere"},
        "inside": {"prefix": ["docker", "run", "-i", "sandbox:latest"],
            "command": "npx", "args": ["-y", "other"], "cwd": "nowhere"},
        "bare": {"prefix": ["bwrap", "--"], "command": "npx", "args": ["-y", "bare"], "cwd": "nowhere"},
    }});
    let file = bench.file("mcp.json", &config.to_string());
    let rules = bench.file("rules.toml", "version = 1\n");
    mode(&file, 0o666);
    mode(&rules, 0o602);
    let args = [
        "--mcp-config",
        "mcp.json",
        "--policy",
        "rules.toml",
        "--json",
        "doctor",
    ];
    let found = problems(&bench.tool(&args).end().with_code(1).json());
    for wanted in [
        "servers mcp.json: everybody on this machine may write it",
        "policy rules.toml: everybody on this machine may write it",
        "server node: \"pkg\" is whatever version is newest when it starts",
        "server python: \"pkg\" is whatever version is newest when it starts",
        "server inside: \"sandbox:latest\" is whatever version is newest when it starts",
        "server inside: \"other\" is whatever version is newest when it starts",
        "server bare: \"bare\" is whatever version is newest when it starts",
    ] {
        assert!(found.iter().any(|it| it == wanted), "{wanted}: {found:#?}");
    }
    assert!(
        !found.iter().any(|it| it.contains("server pinned: \"pkg")),
        "{found:#?}"
    );
    let of_bare = found
        .iter()
        .filter(|it| it.contains("\"bare\" is whatever"));
    assert_eq!(of_bare.count(), 1, "{found:#?}");
    mode(&file, 0o600);
    mode(bench.path(), 0o777);
    let found = problems(&bench.tool(&args).end().with_code(1).json());
    assert!(
        found.contains(
            &"servers mcp.json: everybody on this machine may put another one in its place"
                .to_owned()
        ),
        "{found:#?}"
    );
}

#[test]
fn what_is_wrong_with_an_entry_is_named_with_its_key() {
    let bench = Workbench::new();
    let config = json!({"mcpServers": {
        "odd": {"command": "x", "overlay": {"tols": {}, "hints": 5}},
        "slip": {"command": "no-such-command-here", "prefx": ["bwrap"], "env": {"KEY": "${TOKEN}"}},
        "remote": {"url": "http://127.0.0.1:9/mcp", "bearerEnv": "NOT_SET_BY_THIS_TEST"},
    }});
    bench.file("mcp.json", &config.to_string());
    let ended = bench
        .tool(&["--mcp-config", "mcp.json", "--json", "doctor"])
        .env("TOOL_TOKEN", "short")
        .end()
        .with_code(1);
    let found = problems(&ended.json());
    for wanted in [
        "server odd: server \"odd\", key \"overlay.tols\": is not known; did you mean \"tools\"?",
        "server odd: server \"odd\", key \"overlay.hints\": is none of",
        "server slip: key \"prefx\" is not known and is without effect",
        "server slip: variable KEY holds \"${\"",
        "server slip: could not be started: there is no command \"no-such-command-here\"",
        "server remote: variable NOT_SET_BY_THIS_TEST, which holds its token, is not set",
        "clients over HTTP: TOOL_TOKEN: token has fewer than 16 characters",
    ] {
        assert!(
            found.iter().any(|it| it.starts_with(wanted)),
            "{wanted}: {found:#?}"
        );
    }
}

#[test]
fn a_server_that_waits_for_approval_is_told_of_and_not_started() {
    let bench = Workbench::new();
    servers(&bench, &[]);
    bench
        .tool(&["--mcp-config", "mcp.json", "list"])
        .end()
        .succeeded();
    servers(&bench, &["--verbose"]);
    let doctor = ["--mcp-config", "mcp.json", "--json", "doctor"];
    let document = bench.tool(&doctor).end().with_code(1).json();
    assert_eq!(
        problems(&document),
        ["server own: how it is reached is not as it was trusted, and it is not started"]
    );
    assert_eq!(document["servers"], json!([]));
    bench
        .tool(&["--mcp-config", "mcp.json", "list"])
        .end()
        .succeeded();
    let document = bench.tool(&doctor).end().with_code(1).json();
    assert_eq!(
        problems(&document),
        ["server own: waits for approval: how it is reached"]
    );
    let fix = &document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["level"] == "problem")
        .unwrap()["fix"];
    assert_eq!(*fix, "look at it with `tool pin diff own`");
}

#[test]
fn settings_and_a_state_that_cannot_be_used_are_told_of_with_the_rest() {
    let bench = Workbench::new();
    bench.file("tool.toml", "version = 1\n[gateway]\nstatus_tol = true\n");
    let doctor = ["--config", "tool.toml", "--json", "doctor"];
    let found = problems(&bench.tool(&doctor).end().with_code(1).json());
    assert!(
        found[0].starts_with("settings tool.toml: ") && found[0].contains("status_tol"),
        "{found:#?}"
    );
    assert_eq!(
        found[1],
        "state: not looked at, as the settings cannot be read"
    );

    let bench = Workbench::new();
    bench.file("state", "this is no folder");
    let found = problems(&bench.tool(&["--json", "doctor"]).end().with_code(1).json());
    assert!(
        found.iter().any(|it| it.starts_with("state ")),
        "{found:#?}"
    );
    assert!(
        found.iter().any(|it| it.starts_with("audit log: ")),
        "{found:#?}"
    );
}
