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
fn what_screen_runs_where_it_may_start_a_session_is_seen() {
    for line in [
        "screen -D -m rm y",
        "screen -m -D rm y",
        "screen -R rm y",
        "screen -R work rm y",
        "screen -dR rm y",
        "screen -dR work rm y",
        "screen -RR -S work rm y",
        "screen -D -RR -- rm y",
    ] {
        denied(line);
    }
    for line in [
        "screen -r work",
        "screen -x work",
        "screen -rx work",
        "screen -d work",
        "screen -D -r work",
    ] {
        check(EVERYTHING, line, Allow);
        check("allow shell screen *", line, Allow);
    }
    opaque("screen -R $X rm y");
}

#[test]
fn what_tmux_runs_in_place_of_a_client_is_seen() {
    denied("tmux detach -E 'rm y'");
    denied("tmux detach-client -a -E'rm y'");
    opaque("tmux detach -E \"$X\"");
    opaque("tmux detach --strange");
    check("allow shell tmux *", "tmux detach -s work", Allow);
}

#[test]
fn what_perf_records_by_a_part_of_its_own_is_seen() {
    for line in [
        "perf mem record rm y",
        "perf mem -t load rec -a rm y",
        "perf c2c record -- rm y",
        "perf stat record -o x rm y",
        "perf stat rm y",
        "perf trace record rm y",
    ] {
        denied(line);
    }
    opaque("perf mem strange rm y");
    opaque("perf mem \"$X\" rm y");
    check("allow shell perf *", "perf mem report", Allow);
    check("allow shell perf *", "perf c2c", Allow);
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
fn denied(line: &str) {
    let rules = format!("{EVERYTHING}, deny shell rm *");
    check(&rules, line, Deny);
}

#[track_caller]
fn opaque(line: &str) {
    let analysis = CommandAnalysis::new("/repo", "/repo", line);
    assert!(analysis.opaque().is_some(), "it is not opaque");
    check(EVERYTHING, line, Ask);
    check("deny shell *", line, Deny);
}
