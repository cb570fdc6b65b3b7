//! Lines that are made to break the reader: it answers, in little stack, and never allows them.

use serde_json::Value;
use tool_core::{Action, Decision, Facts, Request, Resource};
use tool_permission::{CommandAnalysis, Rule};

use crate::command_grammar::Random;
use crate::policy;

/// What has to be enough, in bytes.
const STACK: usize = 512 * 1024;

/// What opens a level, what stands inside, and what closes the level.
const LEVELS: &[(&str, &str)] = &[
    ("(", ")"),
    ("( ", " )"),
    ("{ ", "; }"),
    ("$(", ")"),
    ("echo $(", ")"),
    ("echo \"$(", ")\""),
    ("echo ${x:-", "}"),
    ("echo \"${x:-", "}\""),
    ("echo ${x:-\"$(", ")\"}"),
    ("echo ${x[", "]}"),
    ("x[", "]=1"),
    ("x=(", ")"),
    ("x=$(", ")"),
    ("x=($(", "))"),
    ("echo $((", "))"),
    ("echo $(( $(", ")1 ))"),
    ("(( $(", ")1 ))"),
    ("cat <(", ")"),
    ("a > >(", ")"),
    ("if a; then ", "; fi"),
    ("if ", "; then a; fi"),
    ("while ", "; do a; done"),
    ("for i in a; do ", "; done"),
    ("for ((i=$(", ")1;;)); do a; done"),
    ("case x in a) ", ";; esac"),
    ("f() { ", "; }"),
    ("coproc ", ""),
    ("! ", ""),
    ("time ", ""),
    ("[[ -n $(", ") ]]"),
    ("[[ ( ", " ) ]]"),
    ("[[ x =~ (", ") ]]"),
    ("nice ", ""),
    ("env A=1 ", ""),
    ("env -S ", ""),
    ("xargs ", ""),
    ("find . -exec ", ""),
    ("sudo ", ""),
    ("echo {a,", "}"),
    ("{a,", "}"),
    ("eval ", ""),
    ("bash -c ", ""),
    ("trap 'a ", "' EXIT"),
    ("cat <<E\n$(", ")\nE\n"),
    ("\"", "\""),
    ("`", "`"),
];

/// What is repeated side by side.
const REPEATED: &[&str] = &[
    "a;",
    "a\n",
    "a&&",
    "a||",
    "a|",
    "a&",
    "a ",
    ";",
    "&",
    "|",
    "'",
    "\"",
    "`",
    "\\`",
    "\\",
    "\\\n",
    "$",
    "$(",
    "${",
    "$((",
    "<(",
    "<<E ",
    "<<E\n",
    "<<",
    ">a ",
    "2>&1 ",
    "x=1 ",
    "x=(a) ",
    "x[0]=1 ",
    "{a,b}",
    "{1..99}",
    "{",
    "}",
    "{a,",
    "[",
    "[[ ",
    "]]",
    "((",
    "))",
    "!",
    "! ",
    "time ",
    "#",
    "# \n",
    "a#",
    "~/",
    "*",
    "$x",
    "\"$x\"",
    "$IFS",
    "é",
    "\r",
    "case ",
    "esac ",
    "if ",
    "fi;",
    "f() {",
    "cd a;",
    "cd a||",
    "alias a=b;",
    "a;b;alias a=b\n",
    "b\nalias b='a;a;a'\n",
    "git -c a=b ",
    "env -S '",
    "find -exec a ';' ",
    "while a; do cd a; done;",
    "{a,b}{c,d}",
    "x+=",
    "((a));",
    "[[ a ]];",
    "(a);",
    "$(a);",
    "`a`;",
];

#[test]
fn any_depth_is_answered_in_little_stack() {
    for (open, close) in LEVELS {
        for levels in [10, 30, 60, 64, 65, 100, 1_000, 100_000] {
            answer(format!("{}a{}", open.repeat(levels), close.repeat(levels)));
        }
    }
}

#[test]
fn nesting_beyond_the_limit_is_opaque_and_below_it_is_read() {
    for (open, close) in [
        ("( ", " )"),
        ("{ ", "; }"),
        ("echo $(", ")"),
        ("if a; then ", "; fi"),
        ("nice ", ""),
    ] {
        let nested = |levels| format!("{}rm{}", open.repeat(levels), close.repeat(levels));
        assert!(answer(nested(65)).opaque().is_some(), "{open:?}");
        let analysis = answer(nested(30));
        assert!(analysis.opaque().is_none(), "{open:?}");
        let found = analysis
            .commands()
            .any(|words| words[0].known() == Some("rm"));
        assert!(found, "{open:?}");
    }
}

#[test]
fn levels_of_all_kinds_below_the_limit_fit_into_little_stack() {
    let mut random = Random::new(11);
    for _ in 0..300 {
        let mut line = "a".to_owned();
        for _ in 0..random.below(40) {
            let (open, close) = LEVELS[random.below(LEVELS.len())];
            line = format!("{open}{line}{close}");
        }
        answer(line);
    }
}

#[test]
fn repetition_is_answered_whatever_is_repeated() {
    for part in REPEATED {
        for bytes in [60_000, 100_000] {
            let times = bytes / part.len();
            let line = part.repeat(times);
            let long = line.len() > 64 * 1024;
            let analysis = answer(line);
            assert!(!long || analysis.opaque().is_some(), "{part:?}");
        }
    }
}

#[test]
fn a_mutated_case_is_answered_and_an_opaque_one_never_allowed() {
    let cases = include_str!("data/command-cases.jsonl").lines();
    let odd = include_str!("data/command-odd.txt").split("\n%%\n");
    let lines = cases.map(|case| {
        let case: Value = serde_json::from_str(case).unwrap();
        case["command"].as_str().unwrap().to_owned()
    });
    let lines: Vec<String> = lines.chain(odd.map(str::to_owned)).collect();
    let allow = policy([Rule::allow("*", "**")]);
    let mut random = Random::new(7);
    for round in 0..20_000 {
        let line = mutated(&lines[round % lines.len()], &lines, &mut random);
        let analysis = CommandAnalysis::new("/repo", "/repo", &line);
        if analysis.opaque().is_some() {
            let facts = Facts::new();
            let resources = [Resource::command("/repo", "/repo", &line)];
            let ruling = allow.judge(&Request::new(Action::new("shell"), resources, &facts));
            assert_ne!(ruling.decision, Decision::Allow, "{line:?}");
        }
    }
}

#[test]
fn any_bytes_are_answered_and_allowed_only_as_they_are_read() {
    let allowed = policy([Rule::allow("shell", "ls *"), Rule::allow("write", "**")]);
    let mut random = Random::new(13);
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..random.below(80))
            .map(|_| match random.below(3) {
                0 => SPECIAL[random.below(SPECIAL.len())],
                1 => b"lsrm "[random.below(5)],
                _ => u8::try_from(random.below(256)).unwrap(),
            })
            .collect();
        let line = String::from_utf8_lossy(&bytes).into_owned();
        let analysis = CommandAnalysis::new("/repo", "/repo", &line);
        let facts = Facts::new();
        let resources = [Resource::command("/repo", "/repo", &line)];
        let ruling = allowed.judge(&Request::new(Action::new("shell"), resources, &facts));
        if ruling.decision == Decision::Allow {
            let mut programs = analysis.commands().map(|words| words[0].known());
            assert!(programs.all(|program| program == Some("ls")), "{line:?}");
            let runs = analysis.commands().count() + analysis.redirects().count();
            assert!(runs > 0 && analysis.opaque().is_none(), "{line:?}");
        }
    }
}

/// What is read of a text: everything else of the analysis is bounded by that.
#[test]
fn a_longer_line_costs_in_proportion_whatever_it_holds() {
    let nested = LEVELS.iter().map(|(open, close)| {
        let level = |levels: usize| format!("{}a{}", open.repeat(levels), close.repeat(levels));
        // Side by side, each as deep as is read.
        (*open, level(20).replace("\nE\n", " ") + "\n")
    });
    let repeated = REPEATED.iter().map(|part| (*part, (*part).to_owned()));
    let mut costly = Vec::new();
    for (name, part) in nested.chain(repeated) {
        let cost = |bytes: usize| {
            let line = part.repeat(1 + bytes / part.len());
            CommandAnalysis::new("/repo", "/repo", &line).steps()
        };
        for bytes in [1_024, 4_096, 16_384, 60_000, 1_000_000] {
            let steps = cost(bytes);
            if steps > MOST_STEPS * (bytes + part.len()) {
                costly.push(format!("{name:?} at {bytes}: {steps} steps"));
            }
        }
    }
    assert!(costly.is_empty(), "{}", costly.join("\n"));
}

/// Steps for each byte of the line: twenty levels are shown with all that they hold, and what an
/// alias stands for is read where it is called.
const MOST_STEPS: usize = 40;

/// The analysis of a line, made on a thread with little stack.
fn answer(line: String) -> CommandAnalysis {
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || CommandAnalysis::new("/repo", "/repo", &line))
        .unwrap()
        .join()
        .unwrap()
}

fn mutated(line: &str, others: &[String], random: &mut Random) -> String {
    let mut bytes = line.as_bytes().to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => bytes.insert(at, SPECIAL[random.below(SPECIAL.len())]),
            1 if at < bytes.len() => {
                bytes.remove(at);
            }
            2 if at < bytes.len() => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            3 => bytes.truncate(at),
            _ => {
                let other = others[random.below(others.len())].as_bytes();
                let from = random.below(other.len() + 1);
                bytes.splice(at..at, other[from..].iter().copied());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const SPECIAL: &[u8] = b"'\"`$(){}[]<>|&;#\\\n\t =!*?~^-+:/,.\0\r";
