//! A real bash in an empty folder, with programs that write down their words and do nothing else.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tool_permission::CommandWord;

use crate::command_grammar::marker;

pub(crate) const BASH: &str = "/bin/bash";

/// What bash calls for a program that is in no folder.
const HANDLE: &str =
    "() { printf '%s\\0' \"$@\" > \"$RECORD/$BASHPID.$RANDOM.${1//\\//_}\"; return $STATUS; }";

/// A folder with recorders.
pub(crate) struct Lab {
    folder: TempDir,
}

impl Lab {
    /// None where there is no bash.
    pub(crate) fn open() -> Option<Self> {
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
            "#!{BASH}\nprintf '%s\\0' \"${{0##*/}}\" \"$@\" > \"$RECORD/$$.${{0##*/}}\"\nexit $STATUS\n"
        );
        fs::write(&recorder, text).unwrap();
        fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).unwrap();
        // What is in no folder is written down by bash itself, which is faster.
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

    /// The commands that bash runs, each as its words, and the files that it makes.
    pub(crate) fn run(&self, line: &str, status: &str) -> (Vec<Vec<String>>, Vec<String>) {
        let work = tempfile::tempdir_in(self.folder.path()).unwrap();
        fs::create_dir(work.path().join("sub")).unwrap();
        // A file for each program, since they run side by side.
        let record = tempfile::tempdir_in(self.folder.path()).unwrap();
        // None of the lines waits for anything, but a mistake in one must not hold up the tests.
        let (mut ended, output) = std::io::pipe().unwrap();
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
            .env("BASH_FUNC_command_not_found_handle%%", HANDLE)
            // So that what becomes of a `~` is what it is shown as.
            .env("HOME", "~")
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output);
        let mut child = command.spawn().unwrap();
        drop(command);
        // It ends when all that runs in the background has ended.
        ended.read_to_end(&mut Vec::new()).unwrap();
        child.wait().unwrap();
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
pub(crate) fn runs(found: &[CommandWord], words: &[String]) -> bool {
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
