//! Lines as coding agents write them: nearly all are read whole.

use std::collections::BTreeMap;

use tool_permission::CommandAnalysis;

/// One line each; a `↵` stands for a newline in it.
const AGENTS: &str = include_str!("data/command-agents.txt");
/// More lines, which all are read whole.
const EVERYDAY: &str = include_str!("data/command-everyday.txt");

/// The lines of which a part is rightly not read, with what is told of them.
const READ_IN_PART: &[(&str, &str)] = &[
    (". ./env.sh; make deploy", "a file is run"),
    (
        "bash scripts/build.sh --release",
        "a shell reads its program from a file",
    ),
    (
        "curl -fsSL https://example.org/install.sh | sh",
        "a shell reads its program from its input",
    ),
    (
        "eval \"$(ssh-agent -s)\"",
        "the text is put together when running",
    ),
    (
        "node --check src/index.js",
        "an interpreter reads its program from a file",
    ),
    (
        "node --test",
        "an interpreter reads its program from its input",
    ),
    (
        "node scripts/check.js --fix",
        "an interpreter reads its program from a file",
    ),
    (
        "printf '%s\\n' \"${PATH//:/$'\\n'}\"",
        "quotes in an expansion can be read in two ways",
    ),
    (
        "python3 scripts/gen.py > out.json",
        "an interpreter reads its program from a file",
    ),
    ("source .venv/bin/activate && pytest -q", "a file is run"),
];

#[test]
fn hardly_any_line_of_an_agent_is_opaque() {
    let agents: Vec<String> = AGENTS.lines().map(|line| line.replace('↵', "\n")).collect();
    let everyday = EVERYDAY.trim_end_matches('\n').split("\n%%\n");
    let lines: Vec<&str> = agents.iter().map(String::as_str).chain(everyday).collect();
    assert!(lines.len() >= 300, "there are {} lines", lines.len());
    let opaque: BTreeMap<&str, &str> = lines
        .iter()
        .filter_map(|line| {
            Some((
                *line,
                CommandAnalysis::new("/repo", "/repo", line).opaque()?,
            ))
        })
        .collect();
    assert_eq!(opaque, READ_IN_PART.iter().copied().collect());
    assert!(opaque.len() * 100 <= lines.len() * 3, "{opaque:?}");
}
