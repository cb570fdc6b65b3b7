//! No way of writing a denied act makes it an allowed one, and harmless composites stay allowed.

use tool_core::{Action, Decision, Facts, Request, Resource};
use tool_permission::{Effect, Rule, RulePolicy};

use crate::command_grammar::Random;
use crate::command_variants::quoted;
use crate::policy;

/// What is denied, and the words of an act that is.
const ACTS: &[(&str, &[&str])] = &[
    ("rm *", &["rm", "-rf", "build"]),
    ("git push *", &["git", "push", "origin", "main"]),
    ("curl *", &["curl", "-s", "https://example.org/x"]),
    ("npm publish *", &["npm", "publish"]),
    ("kubectl delete *", &["kubectl", "delete", "pod", "web"]),
    ("docker rm *", &["docker", "rm", "-f", "it's"]),
];

/// How many lines are made; more where the variable asks for it.
fn tries() -> usize {
    std::env::var("TOOL_PERMISSION_TRIES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(3_000)
}

/// Writes one act in many ways.
struct Rewriter<'r>(&'r mut Random);

impl Rewriter<'_> {
    /// The act, somewhere in a line. `depth` bounds how often it is wrapped.
    fn line(&mut self, act: &[&str], depth: usize) -> String {
        let mut line = self.command(act);
        for _ in 0..self.0.below(depth + 1) {
            line = self.around(&line);
        }
        line
    }

    /// The words as one simple command.
    fn command(&mut self, act: &[&str]) -> String {
        let mut words: Vec<String> = act.iter().map(|word| self.word(word)).collect();
        if act[0] == "git" && self.one_in(3) {
            let option = self
                .0
                .of(&["-C .", "--no-pager", "-c color.ui=never", "--git-dir=.git"]);
            words.insert(1, option.to_owned());
        }
        if self.one_in(4) {
            let folder = self.0.of(&["/bin/", "/usr/bin/", "./", "../x/", "$PWD/"]);
            words[0] = format!("{folder}{}", act[0]);
        }
        let space = self.0.of(&[" ", "  ", "\t", " \\\n ", "${IFS}"]);
        let space = if self.one_in(3) { space } else { " " };
        let mut line = words.join(space);
        if self.one_in(3) {
            let wrapper = self.0.of(&[
                "env",
                "env -i",
                "env A=1",
                "sudo -n",
                "sudo -u root",
                "timeout 5",
                "timeout -s KILL 5",
                "nohup",
                "nice -n 3",
                "setsid -w",
                "stdbuf -oL",
                "xargs",
                "xargs -0 -n 1",
                "command",
                "exec",
                "busybox",
                "doas",
                "flock lock",
                "strace -f",
            ]);
            line = format!("{wrapper} {line}");
        }
        if self.one_in(5) {
            line = format!(
                "{} {line}",
                self.0.of(&["A=1", "LANG=C B='x y'", "X=$(date)"])
            );
        }
        if self.one_in(5) {
            let redirect = self
                .0
                .of(&["2>&1", ">/dev/null", "</dev/null", "2>/dev/null", "<<<x"]);
            line = match self.one_in(2) {
                true => format!("{redirect} {line}"),
                false => format!("{line} {redirect}"),
            };
        }
        // Only in front of everything else they are keywords.
        if self.one_in(8) {
            line = format!("{} {line}", self.0.of(&["!", "time", "time -p", "! time"]));
        }
        line
    }

    /// One word in one of its spellings.
    fn word(&mut self, word: &str) -> String {
        let quoted = quoted(word);
        let plain = word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-/.:".contains(c));
        if !plain {
            return quoted;
        }
        let at = self.0.below(word.len());
        let (a, b) = word.split_at(at);
        match self.0.below(14) {
            0 => quoted,
            1 => format!("\"{word}\""),
            2 => format!("{a}''{b}"),
            3 => format!("{a}\"{b}\""),
            4 => format!("{a}\\{b}"),
            5 => format!("{a}\\\n{b}"),
            6 => format!("$'{word}'"),
            7 => {
                let first = word.as_bytes()[0];
                format!("$'\\x{first:02x}{}'", &word[1..])
            }
            8 => format!("{a}$''{b}"),
            _ => word.to_owned(),
        }
    }

    fn around(&mut self, line: &str) -> String {
        let quoted = quoted(line);
        match self.0.below(26) {
            0 => format!("ls && {line}"),
            1 => format!("ls\n{line}\n"),
            2 => format!("( {line} )"),
            3 => format!("{{ {line}\n}}"),
            4 => format!("{line} & ls"),
            5 => format!("echo \"$( {line} )\""),
            6 => format!("echo <( {line} )"),
            7 => format!("bash -c {quoted}"),
            8 => format!("env sh -c {quoted}"),
            9 => format!("bash <<'END'\n{line}\nEND\n"),
            10 => format!("cat <<END\n$( {line} )\nEND\n"),
            11 => format!("if true; then {line}\nfi"),
            12 => format!("for i in a b; do {line}\ndone"),
            13 => format!("case x in x) {line}\n;; esac"),
            14 => format!("f() {{ {line}\n}}; f"),
            15 => format!("ls | ( {line} )"),
            16 => format!("true || {{ {line}\n}}"),
            17 => format!("[[ -n $( {line} ) ]]"),
            18 => format!("x=$( {line} ) ls"),
            19 => format!("trap {quoted} EXIT"),
            20 => format!("eval {quoted}"),
            21 => format!("find . -exec sh -c {quoted} ';'"),
            22 => format!("ls > \"$( {line} )\""),
            23 => format!("while {line}\ndo break; done"),
            24 => format!("git bisect run sh -c {quoted}"),
            _ => format!("git rebase -i --exec {quoted} main"),
        }
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.0.below(bound) == 0
    }
}

fn decide(policy: &RulePolicy, line: &str) -> Decision {
    let facts = Facts::new();
    let resources = [Resource::command("/repo", "/repo", line)];
    let request = Request::new(Action::new("shell"), resources, &facts);
    policy.judge(&request).decision
}

fn all_but(denied: &str) -> RulePolicy {
    let all = ["shell", "write", "read", "external"];
    let all = all.map(|action| Rule::new(Effect::Allow, action, "**"));
    policy(all.into_iter().chain([Rule::deny("shell", denied)]))
}

#[test]
fn no_rewrite_of_a_denied_act_is_allowed() {
    let policies: Vec<_> = ACTS.iter().map(|(denied, _)| all_but(denied)).collect();
    let mut random = Random::new(11);
    let (mut denied, tries) = (0, tries());
    for at in 0..tries {
        let (_, act) = ACTS[at % ACTS.len()];
        let line = Rewriter(&mut random).line(act, 4);
        let decision = decide(&policies[at % ACTS.len()], &line);
        assert_ne!(decision, Decision::Allow, "{line:?}");
        denied += usize::from(decision == Decision::Deny);
    }
    println!("{denied} of {tries} rewrites are denied, the others asked");
    assert!(
        denied * 10 > tries * 9,
        "only {denied} of {tries} are denied"
    );
}

#[test]
fn each_kind_of_rewrite_of_each_denied_act_is_denied() {
    for (pattern, act) in ACTS {
        let policy = all_but(pattern);
        let words: Vec<String> = act.iter().map(|word| quoted(word)).collect();
        let plain = words.join(" ");
        let program = act[0];
        let rest = words[1..].join(" ");
        let quoted = quoted(&plain);
        for line in [
            plain.clone(),
            format!("ls && {plain}"),
            format!("ls\n{plain}"),
            format!("({plain})"),
            format!("{{ {plain}; }}"),
            format!("{plain} & ls"),
            format!("ls | {plain}"),
            format!("{}\\{} {rest}", &program[..1], &program[1..]),
            format!("{}''{} {rest}", &program[..1], &program[1..]),
            format!("/usr/bin/{program} {rest}"),
            format!("env A=1 {plain}"),
            format!("sudo -n timeout 5 nohup {plain}"),
            format!("A=1 {plain}"),
            format!("echo \"$({plain})\""),
            format!("{plain} > /dev/null 2>&1"),
            format!("> log {plain}"),
            format!("bash -c {quoted}"),
            format!("bash <<'E'\n{plain}\nE"),
            format!("cat <<E\n$({plain})\nE"),
            format!("git submodule foreach {quoted}"),
            format!("git submodule foreach --recursive {plain}"),
            format!("git bisect run {plain}"),
            format!("git rebase -x {quoted} main"),
            format!("git rebase --exec={quoted} main"),
            format!("git rebase --ex {quoted} main"),
            format!("git rebase -qx {quoted} main"),
            format!("git difftool -yx {quoted} main"),
            format!("git -c alias.x=!{quoted} x"),
            format!("git filter-branch --tree-filter {quoted}"),
        ] {
            assert_eq!(decide(&policy, &line), Decision::Deny, "{line:?}");
        }
    }
}

#[test]
fn harmless_composites_of_allowed_parts_are_not_asked_about() {
    let allowed = [
        "git log *",
        "git diff *",
        "date *",
        "ls *",
        "grep *",
        "head *",
        "cat *",
    ];
    let policy = policy(allowed.map(|resource| Rule::allow("shell", resource)));
    for line in [
        "git log --since=\"$(date +%F)\"",
        "ls 2>/dev/null",
        "ls -la | head -n 3",
        "git --no-pager log -n 3 && git -C . diff",
        "timeout 5 git log 2>&1 | grep -c fix",
        "for f in a b; do cat \"$f\"; done",
        "LANG=C ls",
        "env LANG=C grep -r x . >/dev/null 2>&1",
        "( ls; date )",
        "cat <<'E'\n$(rm -rf x)\nE",
        "bash -c 'ls && date'",
        "ls | xargs -n 1 cat",
        "if ls; then date; else git log; fi",
        "git log --grep='a; rm b'",
    ] {
        assert_eq!(decide(&policy, line), Decision::Allow, "{line}");
    }
}

#[test]
fn a_subcommand_of_git_that_names_a_program_is_asked_at_best() {
    let policy = all_but("rm *");
    for line in [
        "git clone --upload-pack=x a b",
        "git clone -c core.sshCommand=x a b",
        "git fetch --upload-pack x origin",
        "git push --receive-pack=x origin",
        "git grep -Ox y",
        "git grep --open-files-in-pager=x y",
        "git config core.hooksPath x",
        "git config --global alias.x '!x'",
        "git config core.fsmonitor 'list; x'",
        "git config core.fsmonitor 'get; x'",
        "git config -- core.fsmonitor '-a; x'",
        "git config --rename-section foo alias",
        "git clone --upload-p=x a b",
        "git clone -qu x a b",
        "git fetch --upload-p x origin",
        "git ls-remote --exec=x .",
        "git fetch-pack --exec=x . HEAD",
        "git push --exe=x origin",
        "git grep -nOx y",
        "GIT_ALLOW_PROTOCOL=ext git ls-remote 'ext::x'",
    ] {
        assert_eq!(decide(&policy, line), Decision::Ask, "{line}");
    }
    for line in [
        "git config --get core.hooksPath",
        "git config get core.editor",
        "git push --force-with-lease -u origin main",
        "git grep -n --heading x",
        "git clone --depth 1 -b main a b",
        "git config user.name x",
        "git rebase main",
    ] {
        assert_eq!(decide(&policy, line), Decision::Allow, "{line}");
    }
}
