//! Shells and interpreters: where their program comes from.

use super::field::{CommandWord, Rest};
use super::options::Spec;
use super::reading::Stop;

/// The language of a shell, as far as it differs in what a text runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Bash,
    Zsh,
    /// Shells that know less than bash.
    Plain,
}

/// The program of a shell.
#[derive(Debug)]
pub(super) enum Program {
    /// The text of an option.
    Text(CommandWord),
    /// Its standard input.
    Input,
    /// Nothing runs.
    Nothing,
}

impl Dialect {
    /// The language of a shell of that name.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "bash" | "rbash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            "sh" | "dash" | "ash" | "ksh" | "ksh93" | "mksh" | "lksh" | "oksh" | "pdksh"
            | "yash" | "posh" => Some(Self::Plain),
            _ => None,
        }
    }

    /// Whether a command is more than its words say.
    pub(super) fn reads_differently(self, program: &str) -> bool {
        self == Self::Zsh && (program.starts_with('=') || ZSH_PREFIXES.contains(&program))
    }
}

/// What a call of a shell runs.
pub(super) fn program(words: &[CommandWord]) -> Result<Program, Stop> {
    // `+x` takes an option back; none of those that matter here.
    let scan = SHELL.scan(words.get(1..).unwrap_or_default())?;
    if scan.has(&["--version", "--help"]) {
        return Ok(Program::Nothing);
    }
    if scan.values(&["-o"]).any(|option| {
        !option
            .known()
            .is_some_and(|name| PLAIN_OPTIONS.contains(&name))
    }) {
        return Err(Stop("an option may change how a shell reads"));
    }
    match scan.operands.first() {
        Some(operand) if operand.beginning().starts_with('+') => {
            Err(Stop("an option may change how a shell reads"))
        }
        Some(text) if scan.has(&["-c"]) => match text.rest() {
            Rest::Nothing | Rest::Part => Ok(Program::Text(text.clone())),
            Rest::Words => Err(Stop("the program of a shell is known only when running")),
        },
        None if scan.has(&["-c"]) => Err(Stop("a shell has no program")),
        None => Ok(Program::Input),
        Some(dash) if dash.known() == Some("-") && scan.operands.len() == 1 => Ok(Program::Input),
        Some(_) if scan.has(&["-s"]) => Ok(Program::Input),
        Some(_) => Err(Stop("a shell reads its program from a file")),
    }
}

const ZSH_PREFIXES: &[&str] = &[
    "-",
    "noglob",
    "nocorrect",
    "repeat",
    "foreach",
    "always",
    "emulate",
    "zargs",
    "autoload",
    "zmodload",
    "sched",
    "functions",
];

/// Settings of `-o` that change nothing of what a text says.
const PLAIN_OPTIONS: &[&str] = &[
    "allexport",
    "errexit",
    "errtrace",
    "functrace",
    "noclobber",
    "noglob",
    "nounset",
    "pipefail",
    "verbose",
    "xtrace",
    "physical",
    "privileged",
];

const SHELL: Spec = Spec {
    flags: "abcefhlmnpstuvxCEP",
    valued: "o",
    attached: "",
    long_flags: &["login", "noprofile", "norc", "verbose", "version", "help"],
    long_valued: &[],
    numbers: false,
};
