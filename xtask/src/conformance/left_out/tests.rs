use super::*;

const LIST: &str = r#"
[[scenario]]
revision = "2026-07-28"
name = "tasks"
reason = "it is not offered"
"#;

#[track_caller]
fn check(summary: &str, expected: &[&str]) {
    let mut outcomes = Outcomes::default();
    for line in summary.lines() {
        outcomes.read(line);
    }
    let found = LeftOut::parse(LIST)
        .unwrap()
        .judge("server", "2026-07-28", &outcomes);
    assert_eq!(found, expected);
}

#[test]
fn what_fails_has_to_be_on_the_list_and_what_passes_must_not() {
    check(
        "=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n✗ tasks: 1 passed, 8 failed",
        &[],
    );
    check(
        "=== SUMMARY ===\n✗ ping: 1 passed, 1 failed\n✗ tasks: 0 passed, 1 failed",
        &["server, 2026-07-28: ping failed"],
    );
    check(
        "=== SUMMARY ===\n✓ tasks: 1 passed, 0 failed",
        &["server, 2026-07-28: tasks passes; take it out of tests/conformance/left-out.toml"],
    );
}

#[test]
fn a_family_is_left_out_until_all_of_it_passes() {
    let list = LeftOut::parse(&LIST.replace("\"tasks\"", "\"auth/*\"")).unwrap();
    let judge = |summary: &str| {
        let mut outcomes = Outcomes::default();
        for line in summary.lines() {
            outcomes.read(line);
        }
        list.judge("server", "2026-07-28", &outcomes)
    };
    let some = "=== SUITE SUMMARY ===\n✓ auth/a: 1 passed, 0 failed\n✗ auth/b: 0 passed, 1 failed";
    assert!(judge(some).is_empty());
    let other =
        "=== SUITE SUMMARY ===\n✗ authors: 0 passed, 1 failed\n✗ auth/b: 0 passed, 1 failed";
    assert_eq!(judge(other), ["server, 2026-07-28: authors failed"]);
    assert_eq!(
        judge("=== SUITE SUMMARY ===\n✓ auth/a: 1 passed, 0 failed"),
        ["server, 2026-07-28: auth/* passes; take it out of tests/conformance/left-out.toml"]
    );
}

#[test]
fn a_run_of_nothing_is_no_success() {
    check(
        "✓ ping: 2 passed, 0 failed",
        &[
            "server, 2026-07-28: no scenario ran",
            "server, 2026-07-28: tasks did not run; take it out of tests/conformance/left-out.toml",
        ],
    );
}

#[test]
fn an_entry_without_a_reason_is_refused() {
    let text = LIST.replace("it is not offered", " ");
    assert!(LeftOut::parse(&text).is_err());
}
