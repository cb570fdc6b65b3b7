//! What a person at a terminal sees and is asked.

use serde_json::json;

use crate::marked::Mark;
use crate::terminal::Terminal;
use crate::workbench::Workbench;

const ESCAPE: char = '\u{1b}';

#[test]
fn text_cannot_move_the_cursor_or_change_colours() {
    let test = "text_cannot_move_the_cursor_or_change_colours";
    let bench = Workbench::new();
    bench.in_root("odd.txt", "\u{1b}[31mred\u{1b}[0m\u{7} and \u{9b}2J\n");
    let read = bench.tool(&["call", "read", r#"{"path":"odd.txt"}"#]);
    let Some(terminal) = Terminal::start(test, read) else {
        return;
    };
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    let wanted = r"\u{1b}[31mred\u{1b}[0m\u{7} and \u{9b}2J";
    assert!(shown.contains(wanted), "{shown:?}");
    assert!(!shown.contains(&format!("{ESCAPE}[31m")), "{shown:?}");
}

#[test]
fn a_long_call_shows_how_far_it_is() {
    let test = "a_long_call_shows_how_far_it_is";
    let bench = Workbench::new();
    let command = "printf 12345; until [ -e go ]; do sleep 0.02; done; echo 6";
    let arguments = json!({"command": command}).to_string();
    let call = bench.open(&["call", "shell", &arguments]);
    let Some(terminal) = Terminal::start(test, call) else {
        return;
    };
    terminal.wait_for("shell 5 bytes of output (");
    bench.in_root("go", "");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    // The line is taken away before the result is printed.
    assert!(
        shown.ends_with(&format!("{ESCAPE}[2K123456\r\n")),
        "{shown:?}"
    );
}

#[test]
fn a_person_is_asked_and_a_yes_runs_the_call() {
    let bench = Workbench::new();
    let call = bench.tool(&[
        "call",
        "shell",
        r#"{"command":"echo made > made; echo done"}"#,
    ]);
    let Some(mut terminal) = Terminal::start("a_person_is_asked_and_a_yes_runs_the_call", call)
    else {
        return;
    };
    terminal.wait_for("Allow it this time? [y/N] ");
    assert!(!bench.has("made"), "nothing runs before the answer");
    terminal.types("y\n");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown.contains("shell wants to run:\r\n  echo made > made; echo done\r\n"),
        "{shown:?}"
    );
    assert!(shown.ends_with("done\r\n"), "{shown:?}");
    assert!(bench.has("made"));
}

#[test]
fn anything_but_a_yes_declines_the_call() {
    for answer in ["n\n", "\n", "yep\n", "\u{4}"] {
        let bench = Workbench::new();
        let call = bench.tool(&["call", "write", r#"{"path":"made","content":"x"}"#]);
        let Some(mut terminal) = Terminal::start("anything_but_a_yes_declines_the_call", call)
        else {
            return;
        };
        terminal.wait_for("Allow it this time? [y/N] ");
        terminal.types(answer);
        let (shown, code) = terminal.end();
        assert_eq!(code, Some(1), "{answer:?}: {shown}");
        assert!(shown.contains("write wants to write:"), "{shown:?}");
        assert!(
            shown.contains("refused: write: the user declined this call"),
            "{shown:?}"
        );
        assert!(!bench.has("made"), "{answer:?}");
    }
}

#[test]
fn a_question_shows_what_is_asked_with_its_control_characters_escaped() {
    let test = "a_question_shows_what_is_asked_with_its_control_characters_escaped";
    let bench = Workbench::new();
    let arguments = json!({"command": "rm -rf x #\r\u{1b}[2Kecho harmless"}).to_string();
    let call = bench.tool(&["call", "shell", &arguments]);
    let Some(mut terminal) = Terminal::start(test, call) else {
        return;
    };
    terminal.wait_for("Allow it this time? [y/N] ");
    terminal.types("n\n");
    let (shown, _) = terminal.end();
    assert!(
        shown.contains(r"  rm -rf x #\r\u{1b}[2Kecho harmless"),
        "{shown:?}"
    );
}

#[test]
fn ctrl_c_cancels_the_call_and_leaves_no_process() {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let arguments = json!({"command": mark.line()}).to_string();
    let call = bench.open(&["call", "shell", &arguments]);
    let Some(mut terminal) = Terminal::start("ctrl_c_cancels_the_call_and_leaves_no_process", call)
    else {
        return;
    };
    mark.wait_for(3);
    terminal.types("\u{3}");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.ends_with("cancelled\r\n"), "{shown:?}");
    mark.assert_gone();
}

#[test]
fn json_and_lists_are_for_reading_on_a_terminal() {
    let test = "json_and_lists_are_for_reading_on_a_terminal";
    let bench = Workbench::new();
    let Some(terminal) = Terminal::start(test, bench.tool(&["list", "--json"])) else {
        return;
    };
    let (shown, _) = terminal.end();
    assert!(
        shown.starts_with("{\r\n  \"servers\": [],\r\n  \"tools\": [\r\n"),
        "{shown:?}"
    );
    serde_json::from_str::<serde_json::Value>(&shown).unwrap();

    let list = Terminal::start(test, bench.tool(&["list"])).unwrap();
    let (shown, _) = list.end();
    assert!(!shown.contains(ESCAPE), "{shown:?}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 100),
        "{shown}"
    );
}

#[test]
fn serve_on_a_terminal_says_what_it_is_for() {
    let test = "serve_on_a_terminal_says_what_it_is_for";
    let bench = Workbench::new();
    let Some(mut terminal) = Terminal::start(test, bench.tool(&["serve"])) else {
        return;
    };
    terminal.wait_for("serve --http 127.0.0.1:8808");
    terminal.types("\u{3}");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("it is for a client to start"), "{shown}");
    assert!(shown.contains(r#""args":["serve"]"#), "{shown}");
}
