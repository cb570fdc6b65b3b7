//! The file `tool.toml`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::invocation::Invocation;
use crate::workbench::Workbench;

const SETTINGS: &str = r#"
version = 1
policy = ["rules/more.toml"]

[[rule]]
effect = "allow"
action = "shell"
resource = "*"

[bound]
bytes = 400
lines = 10

[state]
dir = "kept"

[workspace]
root = "root"
"#;

const MORE: &str = r#"
version = 1

[[rule]]
effect = "deny"
action = "shell"
resource = "touch *"
"#;

fn with_settings() -> Workbench {
    let bench = Workbench::with_a_repository();
    bench.file("tool.toml", SETTINGS);
    bench.file("rules/more.toml", MORE);
    bench
}

/// The program with these arguments and the settings of the workbench.
fn named(bench: &Workbench, args: &[&str]) -> Invocation {
    bench.bare(args).args(["--config", "tool.toml"])
}

#[test]
fn settings_give_bound_state_root_and_rules() {
    let bench = with_settings();
    let command = json!({"command": "seq 1 1000"}).to_string();
    let settled = named(&bench, &["call", "shell", &command, "--json"])
        .end()
        .succeeded()
        .json();
    let texts = settled["content"].as_array().unwrap().iter();
    let texts: Vec<_> = texts.map(|block| block["text"].as_str().unwrap()).collect();
    assert!(
        texts.iter().map(|text| text.len()).sum::<usize>() <= 400,
        "{texts:?}"
    );
    assert!(
        texts.iter().map(|text| text.lines().count()).sum::<usize>() <= 10,
        "{texts:?}"
    );

    assert!(
        bench.path().join("kept").is_dir(),
        "the state lies beside the settings"
    );
    assert!(
        !bench.path().join("home/.local").exists(),
        "nothing lies in the home"
    );
    let listed = named(&bench, &["output", "list", "--json"]).end().json();
    assert_eq!(listed["outputs"][0]["id"], settled["retained"][0]["id"]);

    let touch = ["call", "shell", r#"{"command":"touch ran"}"#];
    named(&bench, &touch)
        .end()
        .with_code(1)
        .says(&["deny shell touch *", "more.toml:4"]);
    let found = named(&bench, &["call", "grep", r#"{"pattern":"fn main"}"#])
        .end()
        .succeeded();
    assert_eq!(found.text(), "src/main.rs:3:fn main() {\n");
}

#[test]
fn settings_are_found_by_name_and_their_folders_are_relative_to_them() {
    let bench = with_settings();
    let elsewhere = bench.path().join("home");
    let config = bench.path().join("tool.toml");
    let mut list = bench
        .bare(&["call", "glob", r#"{"pattern":"**/*.rs"}"#, "--config"])
        .args([config])
        .into_command();
    let listed = list.current_dir(&elsewhere).output().unwrap();
    assert_eq!(
        String::from_utf8(listed.stdout).unwrap(),
        "src/greeting.rs\nsrc/main.rs\n"
    );
}

#[test]
fn the_command_line_wins_over_settings_and_only_adds_rules() {
    let bench = with_settings();
    bench.file("other/text.md", "text\n");
    let glob = ["call", "glob", r#"{"pattern":"**"}"#, "--root", "other"];
    assert_eq!(named(&bench, &glob).end().succeeded().text(), "text.md\n");
    named(&bench, &["output", "list", "--state", "elsewhere"])
        .end()
        .succeeded();
    assert!(bench.path().join("elsewhere").is_dir());

    // What the settings deny, no further policy allows.
    let touch = ["call", "shell", r#"{"command":"touch ran"}"#];
    bench
        .open(&touch)
        .args(["--config", "tool.toml"])
        .end()
        .with_code(1)
        .says(&["deny shell touch *"]);
    assert!(!bench.has("ran"));
}

#[test]
fn without_settings_files_may_be_read_and_nothing_else() {
    let bench = Workbench::with_a_repository();
    bench
        .tool(&["call", "read", r#"{"path":"README.md"}"#])
        .end()
        .succeeded();
    for (name, arguments) in [
        ("shell", r#"{"command":"true"}"#),
        ("write", r#"{"path":"made","content":"x"}"#),
        (
            "edit",
            r#"{"path":"README.md","old_string":"A","new_string":"B"}"#,
        ),
    ] {
        bench
            .tool(&["call", name, arguments])
            .end()
            .with_code(1)
            .says(&["refused: "]);
    }
}

#[test]
fn state_is_private_and_in_the_home_unless_said_otherwise() {
    let bench = Workbench::new();
    bench.file("open.toml", crate::workbench::OPEN);
    let call = [
        "call",
        "shell",
        r#"{"command":"seq 1 80000"}"#,
        "--policy",
        "open.toml",
    ];
    bench.bare(&call).end().succeeded();
    let state = bench.path().join("home/.local/state/tool/outputs");
    assert!(state.is_dir());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    for entry in std::fs::read_dir(&state).unwrap() {
        let path = entry.unwrap().path();
        let private = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), private, "{path:?}");
    }
}
