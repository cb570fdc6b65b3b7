//! The audit log.

use std::fs;
use std::num::NonZeroU64;
use std::path::Path;

use serde_json::{Value, json};
use tool_core::{
    CallId, Decision, Digest, Event, EventKind, EventSink as _, Facts, Gate, Identification,
    Identity, Namespace, Outcome, Ruling, Settlement, Source, Stage, ToolName,
};
use tool_storage::{AuditLog, AuditOptions};

fn text(folder: &Path) -> String {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|name| name.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    names.sort();
    names
        .iter()
        .map(|name| fs::read_to_string(name).unwrap())
        .collect()
}

fn lines(folder: &Path) -> Vec<Value> {
    let text = text(folder);
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

fn told(log: &AuditLog, number: u64, tool: &str, facts: &Facts, kind: EventKind<'_>) {
    log.emit(&Event::new(None, tool, facts, kind).number(Some(number)));
}

fn of_server(tool: &str) -> Identity {
    let server = Source::Server(Namespace::new("files").unwrap());
    Identity::new(&server, ToolName::new(tool).unwrap())
}

#[test]
fn a_line_says_who_called_what_by_which_rule_and_how_it_ended_and_no_value() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::open(dir.path(), AuditOptions::DEFAULT).unwrap();
    let facts = Facts::new()
        .session("s1")
        .agent("a1")
        .identity(Identification::principal("ada").tenant("acme"));
    let arguments = json!({"b": "canary", "a": 1});
    let definition = Digest::of(b"definition");
    let ruling =
        Ruling::of_rule(Decision::Allow, "policy.toml:14").told_as("canary: policy.toml:14");
    told(&log, 7, "look", &facts, EventKind::Stage(Stage::Before));
    let identity = of_server("look");
    let received = EventKind::Received {
        identity: &identity,
        definition,
        arguments: Some(&arguments),
    };
    told(&log, 7, "look", &facts, received);
    let ruled = EventKind::Ruled {
        capability: None,
        ruling: &ruling,
    };
    told(&log, 7, "look", &facts, ruled);
    let mut settlement = Settlement::without_output(None, "look", Outcome::Completed);
    settlement.content = vec![tool_core::Content::text("canary")];
    settlement.output = Some(json!("canary").into());
    let id = CallId::new("c1");
    let settled = EventKind::Settled(&settlement);
    log.emit(&Event::new(Some(&id), "look", &facts, settled).number(Some(7)));
    drop(log);

    assert!(!text(dir.path()).contains("canary"));
    let mut lines = lines(dir.path());
    assert_eq!(lines.len(), 1);
    let line = lines[0].as_object_mut().unwrap();
    assert!(line.remove("time_ms").unwrap().as_u64() > Some(1_700_000_000_000));
    assert!(line.remove("duration_ms").unwrap().as_f64() >= Some(0.0));
    let expected = json!({
        "seq": 1, "session": "s1", "agent": "a1", "principal": "ada", "tenant": "acme",
        "call": "c1", "tool": "look", "server": "files", "name": "look", "definition": definition.to_string(),
        "arguments": Digest::of_json(&json!({"a": 1, "b": "canary"})).to_string(),
        "rulings": [{"action": "call", "decision": "allow", "rule": "policy.toml:14"}],
        "outcome": "completed", "shown_bytes": 6,
    });
    assert_eq!(json!(line), expected);
}

#[test]
fn a_line_says_who_answered_what_and_where_nobody_did() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::open(dir.path(), AuditOptions::DEFAULT).unwrap();
    let facts = Facts::new();
    let gate = Gate::Approval;
    for (approved, by) in [(true, Some("ada")), (false, Some("client")), (false, None)] {
        let gate = &gate;
        let answered = EventKind::Answered { gate, approved, by };
        told(&log, 1, "erase", &facts, answered);
    }
    let settled = Settlement::without_output(None, "erase", Outcome::Completed);
    told(&log, 1, "erase", &facts, EventKind::Settled(&settled));
    log.flush();
    let expected = json!([
        {"approved": true, "by": "ada", "gate": "approval"},
        {"approved": false, "by": "client", "gate": "approval"},
        {"approved": false, "gate": "approval"},
    ]);
    assert_eq!(lines(dir.path())[0]["answers"], expected);
}

#[test]
fn calls_beside_each_other_have_a_line_each_and_those_that_are_dropped_too() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::open(dir.path(), AuditOptions::DEFAULT).unwrap();
    let facts = Facts::new();
    for number in [1, 2, 3] {
        let tool = format!("t{number}");
        told(&log, number, &tool, &facts, EventKind::Stage(Stage::Before));
    }
    told(&log, 2, "", &facts, EventKind::Dropped);
    let refused = Settlement::without_output(None, "t3", Outcome::Cancelled);
    told(&log, 3, "t3", &facts, EventKind::Settled(&refused));
    let unrun = Settlement::without_output(None, "t4", Outcome::NotDispatched { stopped_by: None });
    log.emit(&Event::new(None, "t4", &facts, EventKind::Settled(&unrun)));
    told(&log, 1, "", &facts, EventKind::Dropped);
    log.flush();
    let seen: Vec<_> = lines(dir.path())
        .iter()
        .map(|line| {
            (
                line["seq"].clone(),
                line["tool"].clone(),
                line["outcome"].clone(),
            )
        })
        .collect();
    let expected = [
        (1, "t2", "dropped"),
        (2, "t3", "cancelled"),
        (3, "t4", "not_dispatched"),
        (4, "t1", "dropped"),
    ];
    assert_eq!(
        seen,
        expected.map(|(n, tool, end)| (json!(n), json!(tool), json!(end)))
    );
}

#[test]
fn a_call_that_was_dropped_or_cancelled_says_which_tool_of_which_server_it_was_of() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::open(dir.path(), AuditOptions::DEFAULT).unwrap();
    let facts = Facts::new();
    let identity = of_server("look up");
    let received = || EventKind::Received {
        identity: &identity,
        definition: Digest::of(b"definition"),
        arguments: None,
    };
    let cancelled = Settlement::without_output(None, "files__look_up", Outcome::Cancelled);
    let ends = [EventKind::Dropped, EventKind::Settled(&cancelled)];
    for (number, end) in (1..).zip(ends) {
        told(&log, number, "files__look_up", &facts, received());
        told(&log, number, "", &facts, end);
    }
    log.flush();
    let lines = lines(dir.path());
    for (line, outcome) in lines.iter().zip(["dropped", "cancelled"]) {
        assert_eq!(line["outcome"], outcome);
        assert_eq!(line["tool"], "files__look_up");
        assert_eq!(
            (&line["server"], &line["name"]),
            (&json!("files"), &json!("look up"))
        );
    }
    assert_eq!(lines.len(), 2);
}

#[test]
fn no_text_of_others_begins_a_line_hides_or_acts_on_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::open(dir.path(), AuditOptions::DEFAULT).unwrap();
    let evil = "a\n{\"seq\":9}\r\u{1b}[2J\u{9b}31m\u{202e}\u{200b}\u{e0041}\u{2028}\0é";
    let facts = Facts::new().session(evil);
    told(&log, 1, evil, &facts, EventKind::Stage(Stage::Before));
    told(&log, 1, &"n".repeat(1_000_000), &facts, EventKind::Dropped);
    told(&log, 2, evil, &facts, EventKind::Dropped);
    log.flush();
    let text = text(dir.path());
    assert!(
        text.bytes()
            .all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte))
    );
    assert!(text.len() < 10_000);
    let lines = lines(dir.path());
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["tool"], evil);
    assert_eq!(lines[1]["session"], evil);
}

#[test]
fn a_full_file_is_followed_by_the_next_and_the_oldest_go() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("audit");
    let options = AuditOptions::DEFAULT.file_bytes(NonZeroU64::MIN);
    let log = AuditLog::open(&dir, options).unwrap();
    let fill = |log: &AuditLog| {
        for number in 11..=20 {
            told(log, number, "tool", &Facts::new(), EventKind::Dropped);
        }
    };
    fill(&log);
    drop(log);
    fs::write(dir.join("audit-notes.txt"), "mine").unwrap();
    let files = |end: &str| {
        let names = fs::read_dir(&dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        names.filter(|name| name.ends_with(end)).count()
    };
    assert_eq!(files(".jsonl"), 10);

    // The next log has files of its own, and makes room for them: three lines, and a bit.
    let line = text(&dir).lines().next().unwrap().len() as u64;
    let most = NonZeroU64::new(3 * line + line / 2).unwrap();
    let log = AuditLog::open(&dir, options.total_bytes(most)).unwrap();
    fill(&log);
    drop(log);
    assert_eq!(
        fs::read_to_string(dir.join("audit-notes.txt")).unwrap(),
        "mine"
    );
    fs::remove_file(dir.join("audit-notes.txt")).unwrap();
    let kept: Vec<_> = lines(&dir).iter().map(|line| line["seq"].clone()).collect();
    assert_eq!(kept, [7, 8, 9, 10]);
}

#[cfg(unix)]
#[test]
fn a_log_whose_file_another_removed_to_make_room_goes_on_in_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("audit");
    let quiet = AuditLog::open(&dir, AuditOptions::DEFAULT).unwrap();
    told(&quiet, 1, "quiet", &Facts::new(), EventKind::Dropped);
    quiet.flush();
    let options = AuditOptions::DEFAULT
        .file_bytes(NonZeroU64::MIN)
        .total_bytes(NonZeroU64::MIN);
    let busy = AuditLog::open(&dir, options).unwrap();
    told(&busy, 1, "busy", &Facts::new(), EventKind::Dropped);
    busy.flush();
    told(&quiet, 2, "quiet", &Facts::new(), EventKind::Dropped);
    quiet.flush();
    let kept: Vec<_> = lines(&dir)
        .iter()
        .map(|line| (line["tool"].clone(), line["seq"].clone()))
        .collect();
    assert!(kept.contains(&(json!("quiet"), json!(2))), "{kept:?}");
    assert_eq!(quiet.lost(), 0);
}

#[cfg(unix)]
#[test]
fn files_are_private_from_creation() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("audit");
    let log = AuditLog::open(&folder, AuditOptions::DEFAULT).unwrap();
    assert_eq!(
        fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
        0o700
    );
    for entry in fs::read_dir(&folder).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    drop(log);
}
