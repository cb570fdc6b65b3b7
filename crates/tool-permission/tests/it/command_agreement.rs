//! The words that a real bash runs with are the words that were found, no more and no fewer.
//!
//! Every command of a generated line runs, if not when all programs succeed then when all fail.

use std::collections::{BTreeMap, BTreeSet};

use tool_permission::{CommandAnalysis, CommandWord};

use crate::bash_lab::{BASH, Lab, runs};
use crate::command_grammar::Random;
use crate::command_script::Writer;

/// How many lines are run; more where the variable asks for it.
fn lines() -> usize {
    let asked = std::env::var("TOOL_PERMISSION_RUNS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(150)
}

#[test]
fn the_words_that_bash_runs_with_are_those_that_were_found() {
    let Some(lab) = Lab::open() else {
        println!("skipped the_words_that_bash_runs_with_are_those_that_were_found: no {BASH}");
        return;
    };
    let lines = lines();
    let half = |seed: u64, count: usize| {
        let mut random = Random::new(seed);
        let mut seen = Seen::default();
        for _ in 0..count {
            seen.add(&lab, &Writer::line(&mut random));
        }
        seen
    };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| half(21, lines / 2));
        let second = half(22, lines - lines / 2);
        (first.join().unwrap(), second)
    });
    let differ = [first.differ, second.differ].concat();
    let (commands, known) = (first.commands + second.commands, first.known + second.known);
    let mut reasons = first.opaque;
    for (reason, count) in second.opaque {
        *reasons.entry(reason).or_default() += count;
    }
    let opaque: usize = reasons.values().sum();
    println!(
        "{lines} lines, {opaque} opaque, {} differ; {known} of {commands} commands are known whole",
        differ.len()
    );
    println!("opaque: {reasons:?}");
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
    assert!(opaque * 8 <= lines, "{opaque} of {lines} lines are opaque");
    assert!(
        known * 2 > commands,
        "{known} of {commands} are known whole"
    );
}

/// What the lines showed.
#[derive(Default)]
struct Seen {
    differ: Vec<String>,
    opaque: BTreeMap<&'static str, usize>,
    commands: usize,
    /// Commands of which each word is known.
    known: usize,
}

impl Seen {
    fn add(&mut self, lab: &Lab, line: &str) {
        let analysis = CommandAnalysis::new("/repo", "/repo", line);
        if let Some(reason) = analysis.opaque() {
            *self.opaque.entry(reason).or_default() += 1;
            return;
        }
        let found: Vec<_> = analysis
            .commands()
            .filter(|words| is_marked(words))
            .collect();
        let opened: Vec<_> = analysis.redirects().flat_map(|file| file.paths()).collect();
        let mut ran = BTreeSet::<Vec<String>>::new();
        let mut made = BTreeSet::new();
        // On a busy machine a job in the background may come too late to be seen, so that what was
        // found gets further runs to show itself. What was not found has no such excuse.
        for (round, status) in ["0", "1", "0", "1", "0", "1"].into_iter().enumerate() {
            let all_ran = found
                .iter()
                .all(|found| ran.iter().any(|ran| runs(found, ran)));
            if round >= 2 && all_ran && opened.iter().all(|file| made.contains(file)) {
                break;
            }
            let (commands, files) = lab.run(line, status);
            ran.extend(commands);
            made.extend(files);
        }
        self.commands += found.len();
        let whole = |words: &&&[CommandWord]| words.iter().all(|word| word.known().is_some());
        self.known += found.iter().filter(whole).count();

        let mut differ = Vec::new();
        let missed = ran
            .iter()
            .filter(|ran| !analysis.commands().any(|found| runs(found, ran)));
        differ.extend(missed.map(|ran| format!("ran and was not found: {ran:?}")));
        let idle = found
            .iter()
            .filter(|found| !ran.iter().any(|ran| runs(found, ran)));
        differ.extend(idle.map(|found| {
            let words: Vec<_> = found.iter().map(|word| word.shown()).collect();
            format!("was found and did not run: {words:?}")
        }));
        let unknown = analysis.redirects().any(|file| file.path().is_none());
        let missed = made
            .iter()
            .filter(|file| !unknown && !opened.contains(file));
        differ.extend(missed.map(|file| format!("made and was not found: {file:?}")));
        let idle = opened.iter().filter(|file| !made.contains(*file));
        differ.extend(idle.map(|file| format!("was found and not made: {file:?}")));
        if !differ.is_empty() {
            self.differ
                .push(format!("{line}\n  {line:?}\n  {}", differ.join("\n  ")));
        }
    }
}

/// Whether it is a numbered program.
fn is_marked(words: &[CommandWord]) -> bool {
    let program = words
        .first()
        .and_then(CommandWord::known)
        .unwrap_or_default();
    let mut chars = program.chars();
    matches!(chars.next(), Some('c' | 'm')) && chars.next().is_some_and(|c| c.is_ascii_digit())
}
