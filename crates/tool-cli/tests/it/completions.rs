//! Completions for shells.

use crate::invocation::Invocation;
use crate::peers::{is_there, skip};
use crate::workbench::Workbench;

#[test]
fn completions_know_every_command_and_option() {
    let bench = Workbench::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = bench.bare(&["completions", shell]).end().succeeded();
        for word in [
            "serve",
            "list",
            "call",
            "output",
            "completions",
            "mcp-config",
            "policy",
            "allow-remote",
            "lint",
            "audit",
            "verify",
        ] {
            assert!(script.text().contains(word), "{shell}: {word} is missing");
        }
        assert_eq!(script.stderr, "", "{shell}");
        // Elvish is told of options only.
        let values = ["gemini-json", "given-up"];
        let knows = values.iter().all(|value| script.text().contains(value));
        assert!(
            knows || ["elvish", "powershell"].contains(&shell),
            "{shell}"
        );
    }
}

#[test]
fn completions_are_scripts_that_their_shell_reads() {
    let bench = Workbench::new();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        if !is_there(shell) {
            skip(
                "completions_are_scripts_that_their_shell_reads",
                &format!("there is no {shell}"),
            );
            continue;
        }
        let script = bench.bare(&["completions", shell]).end().succeeded();
        let file = bench.file(&format!("tool.{shell}"), script.text());
        let read = Invocation::new(shell, &bench)
            .args([check])
            .args([file])
            .end()
            .succeeded();
        assert_eq!(read.stderr, "", "{shell}");
    }
}

#[test]
fn bash_completes_a_command() {
    if !is_there("bash") {
        skip("bash_completes_a_command", "there is no bash");
        return;
    }
    let bench = Workbench::new();
    let script = bench.bare(&["completions", "bash"]).end().succeeded();
    bench.file("tool.bash", script.text());
    let line = "source ./tool.bash; COMP_WORDS=(tool out); COMP_CWORD=1; _tool tool out tool; \
                echo \"${COMPREPLY[@]}\"";
    let ended = Invocation::new("bash", &bench)
        .args(["-c", line])
        .end()
        .succeeded();
    assert_eq!(ended.text(), "output\n");
}
