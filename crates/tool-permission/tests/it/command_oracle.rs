//! What a real bash runs is what the analysis found, unless the line is opaque.
//!
//! Only lines that this crate wrote or generated are run, in an empty folder, with a `PATH` that
//! holds programs which write down their words and do nothing else, and a few wrappers.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tool_permission::{CommandAnalysis, CommandWord};

use crate::command_grammar::{Grammar, Random, marker};

/// How many generated lines are run.
const LINES: usize = 40;

const BASH: &str = "/bin/bash";

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
    let missed: Vec<String> = lines.filter_map(|line| lab.missed(&line)).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn bash_runs_nothing_of_an_odd_line_that_was_not_found() {
    let Some(lab) = Lab::open() else {
        println!("skipped bash_runs_nothing_of_an_odd_line_that_was_not_found: no {BASH}");
        return;
    };
    let lines = ODD.trim_end_matches('\n').split("\n%%\n");
    let missed: Vec<String> = lines.filter_map(|line| lab.missed(line)).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// A folder with recorders.
struct Lab {
    folder: TempDir,
}

impl Lab {
    /// None where there is no bash.
    fn open() -> Option<Self> {
        if !Path::new(BASH).exists() {
            return None;
        }
        let lab = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let bin = lab.path("bin");
        fs::create_dir(&bin).unwrap();
        let recorder = bin.join("recorder");
        let text = format!(
            "#!{BASH}\nprintf '%s\\0' \"${{0##*/}}\" \"$@\" > \"$RECORD/$$\"\nexit $STATUS\n"
        );
        fs::write(&recorder, text).unwrap();
        fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).unwrap();
        for name in (0..400).map(marker).chain(["m".into(), "time".into()]) {
            symlink(&recorder, bin.join(name)).unwrap();
        }
        for name in [
            "bash", "env", "nice", "nohup", "setsid", "stdbuf", "timeout", "xargs",
        ] {
            let real = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
            if let Some(real) = real.iter().find(|real| real.exists()) {
                symlink(real, bin.join(name)).unwrap();
            }
        }
        Some(lab)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a line twice, with all programs succeeding and failing, and compares.
    fn missed(&self, line: &str) -> Option<String> {
        let analysis = CommandAnalysis::new("/repo", "/repo", line);
        if analysis.opaque().is_some() {
            return None;
        }
        for status in ["0", "1"] {
            let (commands, files) = self.run(line, status);
            let missed =
                |words: &&Vec<String>| !analysis.commands().any(|found| runs(found, words));
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

    /// The commands that bash runs, each as its words, and the files that it makes.
    fn run(&self, line: &str, status: &str) -> (Vec<Vec<String>>, Vec<String>) {
        let work = tempfile::tempdir_in(self.folder.path()).unwrap();
        fs::create_dir(work.path().join("sub")).unwrap();
        // A file for each program, since they run side by side.
        let record = tempfile::tempdir_in(self.folder.path()).unwrap();
        // None of the lines waits for anything, but a mistake in one must not hold up the tests.
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["20", BASH]);
        if !Path::new("/usr/bin/timeout").exists() {
            command = Command::new(BASH);
        }
        command
            .args(["--norc", "--noprofile", "-c", line, "line"])
            .current_dir(work.path())
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("RECORD", record.path())
            .env("STATUS", status)
            // So that what becomes of a `~` is what it is shown as.
            .env("HOME", "~")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        // What runs in the background may still be writing.
        let commands = fs::read_dir(record.path())
            .unwrap()
            .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
            .filter(|text| text.ends_with('\0'))
            .map(|text| text.split_terminator('\0').map(str::to_owned).collect())
            .collect();
        let mut files = Vec::new();
        for folder in ["", "sub/"] {
            for entry in fs::read_dir(work.path().join(folder)).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_file() {
                    files.push(format!("{folder}{}", entry.file_name().to_string_lossy()));
                }
            }
        }
        (commands, files)
    }
}

/// Whether a command that was found is this one: an unknown part stands for anything.
fn runs(found: &[CommandWord], words: &[String]) -> bool {
    let Some((first, rest)) = found.split_first() else {
        return words.is_empty();
    };
    if first.known().is_some() {
        let same = words.first().map(String::as_str) == first.known();
        return same && runs(rest, &words[1..]);
    }
    let starts = words
        .first()
        .is_some_and(|word| word.starts_with(first.beginning()));
    (first.beginning().is_empty() && runs(rest, words))
        || (starts && (1..=words.len()).any(|taken| runs(rest, &words[taken..])))
}
