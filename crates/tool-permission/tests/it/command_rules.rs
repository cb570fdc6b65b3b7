//! What rules say about lines: wrappers, unknown words, folders, redirects and variables.

use tool_core::Decision::{self, Allow, Ask, Deny};
use tool_core::{Action, Facts, Request, Resource, Ruling};
use tool_permission::{Effect, Rule, RulePolicy};

use crate::policy;

pub(crate) const EVERYTHING: &str =
    "allow shell *, allow write **, allow read **, allow external **";

#[test]
fn a_wrapper_that_only_runs_a_command_needs_no_rule_and_its_rule_is_no_rule_for_that() {
    for line in [
        "env git status",
        "/usr/bin/env A=1 git status",
        "timeout -k 1 --signal=INT 5 git status",
        "nice -n 5 nohup setsid -w stdbuf -oL ionice -c 3 git status",
        "command -p git status",
        "exec -a x git status",
        "time -p git status",
        "! git status",
        "bash -euo pipefail -c 'git status'",
        "sh <<'E'\ngit status\nE",
        "xargs -0 git status",
    ] {
        check("allow shell git status *", line, Allow);
        check("allow shell git log *", line, Ask);
    }
    check("allow shell env *", "env git status", Ask);
    check("allow shell bash *", "bash -c 'git status'", Ask);
    check("allow shell git status *", "./env git status", Ask);
    check("allow shell git status *", "env", Ask);
    check("allow shell git status *", "command -v git", Ask);
    check("allow shell git status *", "bash -c ''", Ask);
}

#[test]
fn any_other_wrapper_needs_a_rule_of_its_own_as_well() {
    for (wrapper, line) in [
        ("sudo", "sudo -u me git status"),
        ("doas", "doas git status"),
        ("su", "su -c 'git status' me"),
        ("find", "find . -exec git status ';'"),
        ("flock", "flock lock git status"),
        ("flock", "flock lock -c 'git status'"),
        ("watch", "watch -n 1 git status"),
        ("strace", "strace -f -o out git status"),
        ("script", "script -qc 'git status' out"),
        ("busybox", "busybox git status"),
        ("parallel", "parallel -j 4 git status ::: a b"),
        ("builtin", "builtin git status"),
        ("gtimeout", "gtimeout 5 git status"),
        ("bwrap", "bwrap --bind / / -- git status"),
        ("chroot", "chroot --userspec=a /x git status"),
        ("unshare", "unshare -rm --fork git status"),
        ("nsenter", "nsenter -t 1 -m -n git status"),
        ("ltrace", "ltrace -o out git status"),
        ("valgrind", "valgrind --leak-check=full -q git status"),
        ("perf", "perf stat -r 3 git status"),
        ("perf", "perf record -g -- git status"),
        ("entr", "entr -c git status"),
        ("hyperfine", "hyperfine -w 3 'git status' 'git status -s'"),
        ("entr", "entr -s 'git status'"),
        ("tmux", "tmux new -d -s a git status"),
        ("tmux", "tmux -L x split-window -h 'git status'"),
        ("screen", "screen -dmS a git status"),
        ("ssh", "ssh -p 22 me@host git status"),
        ("ssh", "ssh host -v 'git status'"),
        ("docker", "docker exec -it box git status"),
        ("docker", "docker run --rm -v a:b image git status"),
        ("docker", "docker compose -f x exec web git status"),
        ("podman", "podman run image git status"),
        ("kubectl", "kubectl exec -it pod -c web -- git status"),
        ("poetry", "poetry run git status"),
        ("uv", "uv run -- git status"),
        ("bundle", "bundle exec git status"),
        ("direnv", "direnv exec . git status"),
        ("xvfb-run", "xvfb-run -a git status"),
        ("fakeroot", "fakeroot git status"),
        ("gosu", "gosu me git status"),
    ] {
        let git = "allow shell git status *";
        check(git, line, Ask);
        check(&format!("allow shell {wrapper} *"), line, Ask);
        check(&format!("{git}, allow shell {wrapper} *"), line, Allow);
        check(
            &format!("{EVERYTHING}, deny shell git status *"),
            line,
            Deny,
        );
        check(&format!("{EVERYTHING}, deny shell {wrapper} *"), line, Deny);
    }
}

#[test]
fn no_wrapper_of_the_tables_hides_a_denied_program() {
    let rules = format!("{EVERYTHING}, deny shell rm *");
    for wrapper in [
        "\\time -f %e",
        "taskset -c 0",
        "pkexec --user me",
        "su-exec me",
        "torsocks",
        "proxychains4 -q",
        "proxychains -q",
        "unbuffer",
        "caffeinate -i",
        "toybox",
        "docker-compose exec web",
        "nerdctl exec box",
        "oc exec pod --",
        "hatch run",
        "pdm run",
        "pipenv run",
        "rye run",
        "gnice",
    ] {
        check(&rules, &format!("{wrapper} rm x"), Deny);
    }
    for shell in ["sh", "bash", "dash", "ksh"] {
        check(&rules, &format!("{shell} -c 'rm x'"), Deny);
    }
}

#[test]
fn a_file_is_in_no_known_folder_where_a_wrapper_changes_it_unseen() {
    let rules = "allow shell *, allow write out";
    check(rules, "find . -exec sh -c 'echo x > out' ';'", Allow);
    for line in [
        "find . -execdir sh -c 'echo x > out' ';'",
        "npx -c 'echo x > out'",
        "ssh host 'echo x > out'",
        "docker exec box sh -c 'echo x > out'",
        "sudo -i sh -c 'echo x > out'",
        "parallel --wd a sh -c 'echo x > out' ::: b",
    ] {
        check(rules, line, Ask);
    }
}

#[test]
fn what_a_wrapper_does_without_a_command_needs_no_more_than_its_own_rule() {
    for line in [
        "tmux ls",
        "tmux capture-pane -p -t a",
        "screen -ls",
        "screen -r a",
        "ssh -N -L 1:b:2 host",
        "docker ps -a",
        "docker compose up -d",
        "kubectl get pods",
        "perf report",
        "crontab -l",
        "poetry install",
        "uv --version",
        "bundle install",
        "bwrap --version",
    ] {
        check(EVERYTHING, line, Allow);
    }
}

#[test]
fn a_debugger_is_asked_about_and_its_program_searched_for_what_is_denied() {
    let rules = format!("{EVERYTHING}, deny shell rm *");
    check(&rules, "gdb -batch -ex run --args rm x", Deny);
    check(&rules, "gdb -batch -ex run --args ls x", Ask);
    check(&rules, "lldb -- rm x", Deny);
}

#[test]
fn a_variable_that_loads_code_asks_however_it_is_set() {
    for line in [
        "PATH=. ls",
        "PATH=.:$PATH; ls",
        "LD_PRELOAD=x ls",
        "BASH_ENV=x bash -c ls",
        "PAGER=x git log",
        "EDITOR=x git commit",
        "GIT_EDITOR=x git commit",
        "GIT_SEQUENCE_EDITOR=x git rebase -i",
        "VISUAL=x ls",
        "export PATH=.; ls",
        "declare -x BASH_ENV=x; ls",
        "env NODE_OPTIONS=x ls",
        "env -S 'PATH=. ls'",
        "sudo PATH=. ls",
        "GIT_SSH_COMMAND=x git fetch",
        "GIT_PAGER=x git log",
        "LESSOPEN='|x' less a",
        "TAR_OPTIONS=--checkpoint-action=exec=x tar c a",
        "RUSTC_WRAPPER=x cargo build",
        "MAKEFLAGS=SHELL=x make",
        "for PATH in .; do ls; done",
        "ls ${PATH:=.}",
        "read PATH <<< .; ls",
        "read HOME <<< /srv; ls > ~/x",
        "read \"$X\" <<< .; ls",
        "printf -v PATH .; ls",
        "export \"$X\"; ls",
        "local -n p=PATH; ls",
        "((PATH=1)); ls",
        "git -c core.pager=x log",
        "git -c alias.x='!rm y' x",
        "git --exec-path=x log",
        "while IFS= read -r x; do ls; done",
    ] {
        check(EVERYTHING, line, Ask);
        check("deny shell *", line, Deny);
    }
    for line in [
        "RUST_LOG=debug LC_ALL=C ls",
        "export FOO=bar",
        "GIT_AUTHOR_NAME=x git commit",
        "git -c user.name=x -c color.ui=never log",
        "echo $PATH ${PATH:-x}",
    ] {
        check(EVERYTHING, line, Allow);
    }
}

#[test]
fn an_unknown_word_is_covered_by_a_star_only_and_may_be_what_is_denied() {
    check("allow shell git *", "git $X push", Allow);
    check("allow shell git log *", "git log \"$X\"", Allow);
    check("allow shell git log x", "git log \"$X\"", Ask);
    check(
        "allow shell git *, deny shell git push *",
        "git \"$X\"",
        Ask,
    );
    check(
        "allow shell git *, deny shell git push *",
        "git \"p$X\"",
        Ask,
    );
    check(
        "allow shell git *, deny shell git push *",
        "git \"l$X\"",
        Allow,
    );
    check(
        "allow shell git *, ask shell git push *",
        "git $X origin",
        Ask,
    );
    check("allow shell rm *, deny shell rm -rf *", "rm *", Ask);
    check("allow shell rm *, deny shell rm -rf *", "rm ./*", Allow);
    check("allow shell rm *, deny shell rm *", "rm $X", Deny);
    // Without the unknown word it would be another command.
    check("allow shell git * push", "git $X push", Ask);
    check("allow shell git * push", "git \"$X\" push", Allow);
    check("allow shell rm *, deny shell rm /home/*", "rm ~/x", Ask);
    check("allow shell rm *, deny shell rm ~/*", "rm ~/x", Deny);
}

#[test]
fn a_file_is_looked_for_in_every_folder_that_a_change_may_lead_to() {
    let inside = "allow shell *, allow write sub/**";
    check(inside, "cd sub && echo x > a", Allow);
    check(inside, "cd sub || exit 1; echo x > a", Allow);
    check(inside, "if cd sub; then echo x > a; fi", Allow);
    check(inside, "(cd sub && echo x > a)", Allow);
    // Where the change fails the file is another one.
    check(inside, "cd sub; echo x > a", Ask);
    check(inside, "cd sub || echo x > a", Ask);
    check(inside, "(cd sub); echo x > a", Ask);
    check(inside, "cd sub | cat; echo x > a", Ask);
    check(inside, "f() { cd sub; }; f; echo x > a", Ask);
    check(inside, "for i in 1 2; do echo x > sub/a; cd sub; done", Ask);
    check(inside, "echo x > sub/../b", Ask);
    check(inside, "pushd sub && { echo x > a; }", Allow);
    check(inside, "bash -c 'cd sub && echo x > a'", Allow);
    check(inside, "bash -c 'cd sub'; echo x > sub/a", Allow);
    check(inside, "CDPATH=/; cd sub && echo x > a", Ask);
    check(
        "allow shell *, allow write **, deny write .env",
        "cd sub; echo x > .env",
        Deny,
    );
    check(
        "allow shell *, allow write **, deny write .env",
        "cd sub && cd .. && echo x > .env",
        Deny,
    );
}

#[test]
fn a_folder_outside_needs_an_allow_of_its_own() {
    for line in [
        "cd /srv && ls",
        "cd .. && ls",
        "pushd /srv",
        "git -C /srv status",
        "git -C .. -C x status",
        "env -C /srv ls",
        "echo x > /srv/a",
        "cat < ../a",
        "cd; ls",
        "cd \"$X\" && ls",
        "cd -",
        "command cd /srv",
        "bash -c 'cd /srv'",
    ] {
        let inside = "allow shell *, allow read **, allow write **";
        check(inside, line, Ask);
        check(EVERYTHING, line, Allow);
        check(&format!("{EVERYTHING}, deny external **"), line, Deny);
    }
}

#[test]
fn a_redirect_is_judged_by_what_it_opens() {
    let shell = "allow shell *";
    for line in [
        "ls >/dev/null 2>&1 <&- 3>&2-",
        "ls > >(cat)",
        "ls 2> /dev/stderr",
        "cat <<< x",
        "cat <<E\n> out\nE",
    ] {
        check(shell, line, Allow);
    }
    for line in [
        "ls > a",
        "ls >> a",
        "ls >| a",
        "ls &> a",
        "ls &>> a",
        "ls >& a",
        "ls 2> a",
        "{ ls; } {fd}> a",
        "for i in x; do ls; done > a",
        "f() { ls; } > a",
        "> a",
        "ls > \"$X\"",
        "ls > {a,b}",
        "ls $(ls > a)",
    ] {
        check(shell, line, Ask);
        check(EVERYTHING, line, Allow);
        check(&format!("{EVERYTHING}, deny write **"), line, Deny);
    }
    check("allow shell *, allow read a", "cat < a", Allow);
    check("allow shell *, allow read a", "cat <> a", Ask);
    check(
        "allow shell *, allow read a, allow write a",
        "cat <> a",
        Allow,
    );
}

#[test]
fn a_line_without_a_part_is_never_allowed() {
    for line in [
        "",
        " ",
        "\n",
        "# x",
        "x=1",
        "[[ a ]]",
        "((1))",
        "> /dev/null",
        "!",
        ";",
    ] {
        check(EVERYTHING, line, Ask);
        check("deny shell *", line, Deny);
    }
    check(EVERYTHING, "ls\0", Ask);
    check("allow shell x y", "x\u{a0}y", Ask);
}

#[test]
fn a_ruling_names_the_part_that_decided() {
    let because = |rules, line| ruling(rules, line).because;
    assert_eq!(
        because("allow shell git status *", "git status && rm -rf build"),
        "rm -rf build: no rule"
    );
    assert_eq!(
        because("allow shell *, deny shell rm *", "ls | xargs rm"),
        "rm {input}: deny shell rm * (test)"
    );
    assert_eq!(
        because("allow shell *", "ls \"a"),
        "the line can't be read: a quote is not closed"
    );
    let long = format!("rm {}\u{7}", "x".repeat(500));
    assert!(because("allow shell ls", &long).chars().count() < 130);
}

#[track_caller]
pub(crate) fn check(rules: &str, line: &str, expected: Decision) {
    let ruling = ruling(rules, line);
    assert_eq!(
        ruling.decision, expected,
        "{line:?} by {rules}: {}",
        ruling.because
    );
}

/// A policy of rules such as `allow shell ls *, deny write **`.
pub(crate) fn of(rules: &str) -> RulePolicy {
    let rules = rules.split(", ").map(|rule| {
        let mut words = rule.splitn(3, ' ');
        let effect = match words.next().unwrap() {
            "allow" => Effect::Allow,
            "ask" => Effect::Ask,
            _ => Effect::Deny,
        };
        Rule::new(effect, words.next().unwrap(), words.next().unwrap())
    });
    policy(rules).home("/home/dev")
}

fn ruling(rules: &str, line: &str) -> Ruling {
    let resources = [Resource::command("/repo", "/repo", line)];
    let facts = Facts::new();
    let request = Request::new(Action::new("shell"), resources, &facts);
    of(rules).judge(&request)
}
