//! Which file of settings is read, and which is not.

use std::os::unix::fs::symlink;

use crate::workbench::Workbench;

/// What somebody likes who filled the folder: everything runs, and nothing is kept where it was.
const STRANGER: &str = r#"
version = 1
[[rule]]
effect = "allow"
action = "shell"
resource = "*"
[state]
dir = "kept"
"#;

const TOUCH: [&str; 3] = ["call", "shell", r#"{"command":"touch ran"}"#];

#[test]
fn settings_that_only_lie_in_the_current_folder_allow_nothing_and_are_told_of_once() {
    let bench = Workbench::new();
    bench.file("tool.toml", STRANGER);
    let refused = bench.bare(&TOUCH).end().with_code(1);
    let told = refused.stderr.lines();
    let told: Vec<_> = told.filter(|line| line.contains("is not read")).collect();
    assert_eq!(
        told,
        [
            "tool.toml of this folder is not read, as nobody named it; if you trust it: --config tool.toml"
        ]
    );
    assert!(!bench.path().join("ran").exists());
    assert!(!bench.path().join("kept").exists(), "its state is not used");
    let check = ["policy", "check", "shell", "touch ran"];
    bench.bare(&check).end().with_code(1);

    bench
        .bare(&TOUCH)
        .args(["--config", "tool.toml"])
        .end()
        .succeeded();
    assert!(bench.path().join("ran").exists());
    assert!(bench.path().join("kept").exists());
}

#[test]
fn settings_of_the_current_folder_that_are_broken_stop_nothing_either() {
    let bench = Workbench::new();
    bench.file("tool.toml", "this is no file of settings");
    bench
        .tool(&["list"])
        .end()
        .succeeded()
        .says(&["tool.toml of this folder is not read"]);
}

#[test]
fn the_variable_names_settings_by_their_whole_path_alone() {
    let bench = Workbench::new();
    let file = bench.file("tool.toml", STRANGER);
    let named = bench
        .bare(&TOUCH)
        .env("TOOL_CONFIG", &file)
        .end()
        .succeeded();
    assert!(!named.stderr.contains("is not read"), "{named:#?}");
    assert!(bench.path().join("kept").exists());
    bench
        .bare(&TOUCH)
        .env("TOOL_CONFIG", "tool.toml")
        .end()
        .with_code(2)
        .says(&[
            "TOOL_CONFIG names settings by the relative path tool.toml",
            "--config",
        ]);
    // An empty one is none, and the command line comes first.
    bench.bare(&TOUCH).env("TOOL_CONFIG", "").end().with_code(1);
    bench.file("none.toml", "version = 1\n");
    let first = bench.bare(&TOUCH).args(["--config", "none.toml"]);
    first.env("TOOL_CONFIG", &file).end().with_code(1);
}

#[test]
fn settings_of_the_users_own_are_read_by_themselves() {
    let bench = Workbench::new();
    let own = bench.file("home/.config/tool/tool.toml", STRANGER);
    let named = bench.bare(&TOUCH).end().succeeded();
    assert!(!named.stderr.contains("is not read"), "{named:#?}");
    assert!(
        own.with_file_name("kept").is_dir(),
        "its folders are relative to it"
    );
    // In their own folder as well, where they lie in the current one.
    let mut inside = bench.bare(&TOUCH).into_command();
    let ended = inside.current_dir(own.parent().unwrap()).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert!(!String::from_utf8_lossy(&ended.stderr).contains("is not read"));

    // Another folder that the system names comes in place of it, and a relative one names none.
    let elsewhere = bench.path().join("home/elsewhere");
    bench
        .bare(&TOUCH)
        .env("XDG_CONFIG_HOME", &elsewhere)
        .end()
        .with_code(1);
    bench
        .bare(&TOUCH)
        .env("XDG_CONFIG_HOME", "home/.config")
        .end()
        .succeeded();
    bench.file("home/elsewhere/tool/tool.toml", STRANGER);
    bench
        .bare(&TOUCH)
        .env("XDG_CONFIG_HOME", &elsewhere)
        .end()
        .succeeded();
}

#[test]
fn settings_of_the_users_own_that_cannot_be_read_stop_everything() {
    let bench = Workbench::new();
    let own = bench.file("home/.config/tool/tool.toml", "version = 1\n[bund]\n");
    bench
        .tool(&["list"])
        .end()
        .with_code(2)
        .says(&["tool.toml:2"]);
    // They may have held what forbids: a link to nowhere is not the same as no settings.
    std::fs::remove_file(&own).unwrap();
    symlink("nowhere.toml", &own).unwrap();
    bench
        .tool(&["list"])
        .end()
        .with_code(2)
        .says(&["tool/tool.toml"]);
}

#[test]
fn a_doctor_tells_of_settings_that_nobody_named() {
    let bench = Workbench::new();
    bench.file("tool.toml", STRANGER);
    let ended = bench.bare(&["doctor"]).end().succeeded();
    let wanted =
        "settings tool.toml: not read, as nobody named it; if you trust it: --config tool.toml";
    assert!(ended.text().contains(wanted), "{ended:#?}");
    assert_eq!(ended.stderr, "", "it is told once");

    bench
        .bare(&["doctor"])
        .env("TOOL_CONFIG", "tool.toml")
        .end()
        .with_code(1);
}
