use super::*;

#[test]
fn what_is_shown_can_be_pasted_into_a_shell() {
    let shown = Invocation::cargo(Path::new("."), "doc --workspace")
        .variable("RUSTDOCFLAGS", "-D warnings")
        .args(["it's"])
        .to_string();
    assert_eq!(
        shown,
        r"RUSTDOCFLAGS='-D warnings' cargo doc --workspace 'it'\''s'"
    );
}

#[test]
fn every_line_is_handed_over() {
    let mut lines = Vec::new();
    let ran = Invocation::cargo(Path::new("."), "--version")
        .run_reading(|line| lines.push(line.to_owned()));
    assert!(ran.unwrap());
    assert!(lines[0].starts_with("cargo "), "{lines:?}");
}

#[test]
fn a_program_that_fails_has_no_answer() {
    assert_eq!(
        Invocation::cargo(Path::new("."), "no-such-command").answer(),
        None
    );
    assert_eq!(Invocation::new("no-such-program", ".").answer(), None);
}
