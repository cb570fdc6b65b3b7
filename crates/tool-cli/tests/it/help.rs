//! The text of `--help`, as people read it.

use crate::workbench::Workbench;

#[test]
fn help_says_what_every_command_does() {
    let bench = Workbench::new();
    for (name, args) in [
        ("tool", &[][..]),
        ("serve", &["serve"]),
        ("list", &["list"]),
        ("lint", &["lint"]),
        ("call", &["call"]),
        ("output", &["output"]),
        ("output_list", &["output", "list"]),
        ("output_read", &["output", "read"]),
        ("args", &["args"]),
        ("args_test", &["args", "test"]),
        ("policy", &["policy"]),
        ("policy_check", &["policy", "check"]),
        ("policy_explain", &["policy", "explain"]),
        ("policy_test", &["policy", "test"]),
        ("policy_lint", &["policy", "lint"]),
        ("approvals", &["approvals"]),
        ("approvals_list", &["approvals", "list"]),
        ("approvals_grant", &["approvals", "grant"]),
        ("approvals_revoke", &["approvals", "revoke"]),
        ("approvals_answer", &["approvals", "answer"]),
        ("pin", &["pin"]),
        ("pin_diff", &["pin", "diff"]),
        ("audit", &["audit"]),
        ("audit_list", &["audit", "list"]),
        ("audit_verify", &["audit", "verify"]),
        ("token", &["token"]),
        ("token_add", &["token", "add"]),
        ("doctor", &["doctor"]),
        ("completions", &["completions"]),
    ] {
        let help = bench.bare(&[args, &["--help"]].concat()).end().succeeded();
        assert_eq!(help.stderr, "", "{name}");
        insta::assert_snapshot!(name, help.text());
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let bench = Workbench::new();
    let version = bench.bare(&["--version"]).end().succeeded();
    assert_eq!(
        version.text(),
        concat!("tool ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
