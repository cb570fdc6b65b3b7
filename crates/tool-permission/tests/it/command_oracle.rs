//! What a real bash runs is what the analysis found, unless the line is opaque.
//!
//! Only lines that this crate wrote or generated are run, in an empty folder, with a `PATH` that
//! holds programs which write down their words and do nothing else, and a few wrappers.

use tool_permission::CommandAnalysis;

use crate::bash_lab::{BASH, Lab, runs};
use crate::command_grammar::{Grammar, Random};

/// How many generated lines are run.
const LINES: usize = 40;

/// Lines whose reading is easily got wrong.
const ODD: &str = include_str!("data/command-odd.txt");

#[test]
fn bash_runs_nothing_of_a_generated_line_that_was_not_found() {
    let Some(lab) = Lab::open() else {
        println!("skipped bash_runs_nothing_of_a_generated_line_that_was_not_found: no {BASH}");
        return;
    };
    let mut random = Random::new(5);
    let lines = (0..LINES).map(|_| Grammar::line(&mut random).0);
    let missed: Vec<String> = lines.filter_map(|line| missed(&lab, &line)).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn bash_runs_nothing_of_an_odd_line_that_was_not_found() {
    let Some(lab) = Lab::open() else {
        println!("skipped bash_runs_nothing_of_an_odd_line_that_was_not_found: no {BASH}");
        return;
    };
    let lines = ODD.trim_end_matches('\n').split("\n%%\n");
    let missed: Vec<String> = lines.filter_map(|line| missed(&lab, line)).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Runs a line twice, with all programs succeeding and failing, and compares.
fn missed(lab: &Lab, line: &str) -> Option<String> {
    let analysis = CommandAnalysis::new("/repo", "/repo", line);
    if analysis.opaque().is_some() {
        return None;
    }
    for status in ["0", "1"] {
        let (commands, files) = lab.run(line, status);
        let missed = |words: &&Vec<String>| !analysis.commands().any(|found| runs(found, words));
        if let Some(words) = commands.iter().find(missed) {
            return Some(format!("bash ran {words:?}, which was missed in {line:?}"));
        }
        let missed = |file: &&String| {
            let mut redirects = analysis.redirects();
            !redirects.any(|one| one.path().is_none() || one.paths().any(|path| path == **file))
        };
        if let Some(file) = files.iter().find(missed) {
            return Some(format!("bash made {file}, which was missed in {line:?}"));
        }
    }
    None
}
