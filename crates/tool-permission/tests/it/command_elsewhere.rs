//! What runs in a container, on another machine or in another terminal, however it is said.

use tool_core::Decision::{Allow, Ask, Deny};
use tool_permission::CommandAnalysis;

use crate::command_rules::{EVERYTHING, check};

#[test]
fn a_part_of_docker_has_no_further_part() {
    check(EVERYTHING, "docker compose exec web ls", Allow);
    check(EVERYTHING, "docker container exec web ls", Allow);
    opaque("docker compose compose exec web ls");
    let line = format!("docker {}", "compose ".repeat(8_000));
    opaque(&line);
}

#[test]
fn an_option_of_ssh_that_loads_a_library_is_opaque() {
    for option in [
        "-I ./x.so",
        "-I./x.so",
        "-o PKCS11Provider=./x.so",
        "-oSecurityKeyProvider=./x.so",
        "-o 'XAuthLocation ./x'",
    ] {
        opaque(&format!("ssh {option} host ls"));
        opaque(&format!("ssh host {option} ls"));
    }
    check(EVERYTHING, "ssh -o BatchMode=yes host ls", Allow);
}

#[track_caller]
fn opaque(line: &str) {
    let analysis = CommandAnalysis::new("/repo", "/repo", line);
    assert!(analysis.opaque().is_some(), "it is not opaque");
    check(EVERYTHING, line, Ask);
    check("deny shell *", line, Deny);
}
