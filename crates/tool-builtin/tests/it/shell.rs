use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tool_builtin::{Options, ShellOptions};
use tool_core::{Loss, Resource, Tool};

use crate::fixture::{Reports, Room, control, done, failure, run_under};

fn with(room: &Room, options: ShellOptions) -> Tool {
    room.tool_with("shell", None, Options::new().shell(options))
}

#[tokio::test]
async fn what_is_printed_comes_back_byte_for_byte_as_one_block() {
    let room = Room::new();
    let shell = room.tool("shell");
    for text in [
        "a",
        "a\n",
        "\n",
        "no end\r\nß 🦀 \t\u{1b}[0m",
        "[exit status 1]\n",
    ] {
        std::fs::write(room.path("text"), text).unwrap();
        let ran = done(&shell, json!({"command": "cat text"})).await;
        assert_eq!(ran.texts(), [text]);
        assert_eq!(
            ran.structured,
            json!({
                "exit_code": 0, "timed_out": false, "bytes": text.len(), "lost_bytes": 0,
                "invalid_utf8": false, "left_open": false,
            })
        );
    }
}

#[tokio::test]
async fn six_megabytes_come_back_byte_for_byte() {
    let room = Room::new();
    let command = "seq -f '%06.0f ü' 1 600000";
    let ran = done(&room.tool("shell"), json!({"command": command})).await;
    let expected: String = (1..=600_000).map(|n| format!("{n:06} ü\n")).collect();
    assert_eq!(ran.structured["bytes"], 6_000_000);
    assert_eq!(ran.structured["lost_bytes"], 0);
    let [text] = ran.texts()[..] else {
        panic!("{} blocks", ran.content.len())
    };
    assert!(text == expected);
}

#[tokio::test]
async fn both_streams_come_in_the_order_of_printing() {
    let room = Room::new();
    let command = "for n in 1 2 3 4 5; do echo out $n; echo err $n >&2; done";
    let ran = done(&room.tool("shell"), json!({"command": command})).await;
    let expected: String = (1..=5).map(|n| format!("out {n}\nerr {n}\n")).collect();
    assert_eq!(ran.texts(), [expected]);
}

#[tokio::test]
async fn a_status_other_than_zero_is_a_result_told_last() {
    let room = Room::new();
    let shell = room.tool("shell");
    let ran = done(&shell, json!({"command": "echo text; exit 3"})).await;
    assert_eq!(ran.texts(), ["text\n", "[exit status 3]"]);
    assert_eq!(ran.structured["exit_code"], 3);
    let ran = done(&shell, json!({"command": "false"})).await;
    assert_eq!(ran.texts(), ["[exit status 1; no output]"]);
    let ran = done(&shell, json!({"command": "true"})).await;
    assert_eq!(ran.texts(), ["[no output]"]);
    let ran = done(&shell, json!({"command": "kill -TERM $$"})).await;
    assert_eq!(ran.texts(), ["[ended by signal 15; no output]"]);
    assert_eq!(ran.structured["signal"], 15);
    assert!(ran.structured.get("exit_code").is_none());
    let ran = done(&shell, json!({"command": "if; then"})).await;
    assert_eq!(ran.structured["exit_code"], 2);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced_and_that_is_said() {
    let room = Room::new();
    let ran = done(&room.tool("shell"), json!({"command": r"printf 'a\377b'"})).await;
    assert_eq!(
        ran.texts(),
        [
            "a\u{fffd}b",
            "[bytes that are not UTF-8 are shown as U+FFFD]"
        ]
    );
    assert_eq!(ran.structured["invalid_utf8"], true);
    assert_eq!(ran.structured["bytes"], 3);
}

#[tokio::test]
async fn output_beyond_the_limit_is_counted_exactly() {
    let room = Room::new();
    let shell = with(&room, ShellOptions::new().capture_bytes(10));
    for (command, text, bytes, lost) in [
        ("printf 0123456789", "0123456789", 10, 0),
        ("printf 0123456789a", "0123456789", 11, 1),
        ("printf 012345678ü", "012345678", 11, 2),
        (r"printf '01234567\377ab'", "01234567", 11, 3),
        (
            "head -c 1000000 /dev/zero | tr '\\0' x",
            "xxxxxxxxxx",
            1_000_000,
            999_990,
        ),
    ] {
        let ran = done(&shell, json!({"command": command})).await;
        assert_eq!(ran.texts()[0], text, "{command}");
        assert_eq!(ran.structured["bytes"], bytes, "{command}");
        assert_eq!(ran.structured["lost_bytes"], lost, "{command}");
        assert_eq!(ran.structured["invalid_utf8"], false, "{command}");
        assert_eq!(ran.texts().len(), 1, "{command}");
        let loss = (lost > 0).then(|| Loss::bytes(lost));
        assert_eq!(ran.loss, loss, "the runtime says it: {command}");
    }
}

#[tokio::test]
async fn the_shell_starts_in_the_workspace_or_a_folder_of_it() {
    let room = Room::new();
    room.put("src/file", "");
    let shell = room.tool("shell");
    let root = room.workspace.root().to_str().unwrap();
    let ran = done(&shell, json!({"command": "pwd"})).await;
    assert_eq!(ran.texts(), [format!("{root}\n")]);
    let ran = done(&shell, json!({"command": "pwd", "cwd": "src"})).await;
    assert_eq!(ran.texts(), [format!("{root}/src\n")]);
    for (cwd, text) in [
        ("missing", "missing does not exist; cwd must be a folder"),
        (
            "src/file",
            "src/file is not a folder that can be entered; cwd must be a folder",
        ),
    ] {
        assert_eq!(
            failure(&shell, json!({"command": "true", "cwd": cwd})).await,
            text
        );
    }
}

#[tokio::test]
async fn there_is_no_input_and_only_the_allowed_environment() {
    let room = Room::new();
    let shell = with(
        &room,
        ShellOptions::new()
            .env("GIVEN", "yes")
            .inherit("NO_SUCH_VARIABLE")
            .remove("HOME"),
    );
    let ran = done(&shell, json!({"command": "cat; env | sed 's/=.*//'"})).await;
    let names: Vec<_> = ran.texts()[0].lines().collect();
    for name in &names {
        assert!(is_expected(name), "{name}");
    }
    assert!(names.contains(&"GIVEN") && !names.contains(&"HOME"));
}

#[tokio::test]
async fn a_further_variable_is_handed_on_when_it_is_named() {
    let room = Room::new();
    let further = std::env::vars()
        .map(|(name, _)| name)
        .find(|name| !is_expected(name) && name.bytes().all(|b| b.is_ascii_uppercase()));
    let Some(further) = further else {
        println!("skipped: the environment holds nothing but what is handed on anyway");
        return;
    };
    let command = json!({"command": format!("printenv {further} >/dev/null")});
    let ran = done(&room.tool("shell"), command.clone()).await;
    assert_eq!(ran.structured["exit_code"], 1);
    let ran = done(&with(&room, ShellOptions::new().inherit(&further)), command).await;
    assert_eq!(ran.structured["exit_code"], 0);
}

fn is_expected(name: &str) -> bool {
    let handed_on = "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM TZ TMPDIR";
    let ours = "GIVEN TOOL_CALL_MARK";
    let set_by_the_shell = "PWD OLDPWD SHLVL _";
    name.starts_with("LC_")
        || [handed_on, ours, set_by_the_shell]
            .iter()
            .any(|names| names.split(' ').any(|known| known == name))
}

#[test]
fn options_print_no_value() {
    let options = ShellOptions::new().env("TOKEN", "canary");
    let printed = format!("{options:?}");
    assert!(printed.contains("TOKEN") && !printed.contains("canary"));
}

/// The variable belongs to the process, so the test runs a second time in one of its own.
#[tokio::test]
async fn a_call_inside_a_call_bears_both_marks() {
    const NAME: &str = "shell::a_call_inside_a_call_bears_both_marks";
    if std::env::var_os("TOOL_CALL_MARK").is_none() {
        let inner = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME])
            .env("TOOL_CALL_MARK", "outer")
            .output()
            .unwrap();
        assert!(inner.status.success(), "{inner:?}");
        return;
    }
    let room = Room::new();
    let ran = done(
        &room.tool("shell"),
        json!({"command": "echo $TOOL_CALL_MARK"}),
    )
    .await;
    let own = ran.texts()[0].trim_end().strip_prefix("outer:").unwrap();
    assert_eq!(own.len(), 32);
}

#[tokio::test]
async fn the_program_can_be_chosen_and_a_missing_one_is_a_defect() {
    let room = Room::new();
    let shell = with(&room, ShellOptions::new().program("/bin/sh"));
    let ran = done(&shell, json!({"command": "echo $0"})).await;
    assert_eq!(ran.texts(), ["/bin/sh\n"]);
    assert!(shell.description().contains(" in sh "));
    let shell = with(&room, ShellOptions::new().program("/missing/shell"));
    let ran = crate::fixture::run(&shell, json!({"command": "true"})).await;
    assert!(matches!(ran, Err(tool_core::HandlerErrorKind::Defect(_))));
}

#[tokio::test]
async fn a_line_that_begins_with_a_dash_is_no_option() {
    let room = Room::new();
    for program in ["/bin/sh", "bash"] {
        let shell = with(&room, ShellOptions::new().program(program));
        let ran = done(&shell, json!({"command": "-x; echo ran"})).await;
        assert!(
            ran.texts()[0].ends_with("ran\n"),
            "{program}: {:?}",
            ran.texts()
        );
    }
}

#[tokio::test]
async fn a_line_that_cannot_run_is_a_failure() {
    let room = Room::new();
    let shell = room.tool("shell");
    for (command, text) in [
        ("".to_owned(), "the command is empty"),
        (" \n".to_owned(), "the command is empty"),
        ("echo a\0b".to_owned(), "the command holds a NUL character"),
        (
            "x".repeat(3_000_000),
            "the command is too long for the system; write it to a file and run that",
        ),
    ] {
        assert_eq!(failure(&shell, json!({"command": command})).await, text);
    }
}

#[tokio::test]
async fn policy_is_asked_about_the_line_as_it_would_run() {
    let room = Room::new();
    room.put("src/file", "");
    let shell = room.tool("shell");
    let root = room.workspace.root();
    for (command, save) in [
        ("git status", vec!["git status"]),
        ("cat ./src/file", vec!["cat ./src/file"]),
        ("echo *", vec![]),
        ("echo 'a b'", vec![]),
        ("true && true", vec![]),
        ("echo  two", vec![]),
        ("true\n", vec![]),
        ("echo $HOME", vec![]),
    ] {
        done(
            &shell,
            json!({"command": command, "cwd": "src", "timeout_ms": 60_000}),
        )
        .await;
        let asked = room.policy.asked().pop().unwrap();
        assert_eq!(asked.action, "shell");
        assert_eq!(
            asked.resources,
            [Resource::command(root, root.join("src"), command)]
        );
        assert_eq!(asked.save, save);
        assert_eq!(json!(asked.metadata), json!({"timeout_ms": 60_000}));
    }
}

#[tokio::test]
async fn progress_tells_the_bytes() {
    let room = Room::new();
    let reports = Arc::new(Reports::default());
    let sink: Arc<dyn tool_core::ProgressSink> = Arc::clone(&reports) as _;
    let control = control(Some(sink));
    run_under(
        &control,
        &room.tool("shell"),
        json!({"command": "echo 12345"}),
    )
    .await
    .unwrap();
    assert_eq!(reports.last_message().unwrap(), "6 bytes of output");
}

/// Holds a paused clock until a file is there: it goes on by itself only while nothing blocks.
fn hold_clock_until(path: std::path::PathBuf) -> tokio::task::JoinHandle<()> {
    tokio::task::spawn_blocking(move || {
        let deadline = std::time::Instant::now() + Duration::from_secs(30);
        while !path.exists() {
            assert!(std::time::Instant::now() < deadline);
            std::thread::yield_now();
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_line_that_takes_too_long_is_stopped_and_keeps_what_it_printed() {
    let room = Room::new();
    let shell = with(
        &room,
        ShellOptions::new().timeout(Duration::from_secs(3_600)),
    );
    for (name, timeout_ms, note) in [
        (
            "first",
            None,
            "[stopped when its time was over, before it had ended",
        ),
        (
            "second",
            Some(600_000),
            "[stopped after 600000 ms, before it had ended",
        ),
    ] {
        let held = hold_clock_until(room.path(name));
        let command = format!("echo begun; mkfifo pipe.{name}; touch {name}; cat pipe.{name}");
        let ran = done(
            &shell,
            json!({"command": command, "timeout_ms": timeout_ms}),
        )
        .await;
        held.await.unwrap();
        assert_eq!(ran.texts()[0], "begun\n");
        assert!(ran.texts()[1].starts_with(note), "{}", ran.texts()[1]);
        assert_eq!(ran.structured["timed_out"], true);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_line_leaves_behind_may_finish_what_it_prints() {
    let room = Room::new();
    let held = hold_clock_until(room.path("done"));
    let command = "echo first > >(cat; touch done)";
    let ran = done(&room.tool("shell"), json!({"command": command})).await;
    held.await.unwrap();
    assert_eq!(ran.texts(), ["first\n"]);
    assert_eq!(ran.structured["exit_code"], 0);
}
