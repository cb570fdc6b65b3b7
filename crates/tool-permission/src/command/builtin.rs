//! Builtins that run, set or load more than their words show.

use super::field::CommandWord;
use super::options::Spec;
use super::reading::{Stop, holds_code};
use super::variable;

/// What a call of a builtin does beside what its words say.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// What it runs cannot be told.
    pub(super) hidden: Option<Stop>,
    /// It may set a variable that picks or loads code: its name, or the word that may hold it.
    pub(super) sets: Option<String>,
    /// It evaluates words as arithmetic or as subscripts.
    pub(super) evaluates: bool,
    /// ... of which one is not known whole.
    pub(super) opens_code: bool,
    /// Names of files may be no word at all.
    pub(super) nullglob: bool,
}

/// The effects of a call, whatever else the program is.
pub(super) fn effects(name: &str, words: &[CommandWord]) -> Effects {
    let words = words.get(1..).unwrap_or_default();
    match name {
        "." | "source" => Effects::hidden("a file is run"),
        "eval" => Effects::hidden("the text is put together when running"),
        "fc" | "enable" | "compgen" | "complete" | "compopt" | "bind" => {
            Effects::hidden("a builtin loads or runs code")
        }
        "hash" if has(words, 'p') => Effects::hidden("a program is renamed"),
        "jobs" if has(words, 'x') => Effects::hidden("a builtin loads or runs code"),
        "set" => set(words),
        "shopt" => shopt(words),
        "declare" | "typeset" | "local" | "export" | "readonly" => declaring(name, words),
        "read" => naming(&READ, words),
        "mapfile" | "readarray" => naming(&MAPFILE, words),
        "getopts" | "unset" | "let" | "wait" => Effects {
            sets: words.iter().find_map(filled),
            ..evaluating(words)
        },
        "printf" => printf(words),
        "test" | "[" => match has(words, 'v') {
            true => evaluating(words),
            false => Effects::default(),
        },
        _ => Effects::default(),
    }
}

impl Effects {
    fn hidden(why: &'static str) -> Self {
        Self {
            hidden: Some(Stop(why)),
            ..Self::default()
        }
    }
}

/// Builtins that take names of variables, in which a subscript is evaluated.
fn evaluating(words: &[CommandWord]) -> Effects {
    Effects {
        evaluates: true,
        opens_code: words.iter().any(|word| !word.is_known()),
        hidden: words
            .iter()
            .any(|word| holds_code(word.beginning()))
            .then_some(CODE),
        ..Effects::default()
    }
}

/// Builtins whose operands name the variables that they set.
fn naming(spec: &Spec, words: &[CommandWord]) -> Effects {
    let scan = match spec.scan(words) {
        Ok(scan) if !scan.has(&["-C"]) => scan,
        _ => return Effects::hidden("a builtin may run more than it shows"),
    };
    let names = || scan.operands.iter().chain(scan.value(&["-a"]));
    Effects {
        sets: names().find_map(|name| filled(name).or_else(|| unknown(name))),
        ..evaluating(words)
    }
}

fn declaring(name: &str, words: &[CommandWord]) -> Effects {
    // What is set by another name of a variable is seen only if that name is written here.
    let letter = |word: &CommandWord, letter: char| {
        let letters = word.beginning();
        letters.starts_with(['-', '+']) && letters.contains(letter)
    };
    let renames = name != "export" && words.iter().any(|word| letter(word, 'n'));
    let named_here = |word: &CommandWord| match word.known().map(|text| text.split_once('=')) {
        Some(Some((_, target))) => !variable::is_prompt(name_of(target)),
        Some(None) => word.beginning().starts_with(['-', '+']),
        None => false,
    };
    if renames && !words.iter().all(named_here) {
        return Effects::hidden("a variable gets another name");
    }
    // A value is data, unless the variable is a number or another name of a variable.
    let special = words
        .iter()
        .any(|word| letter(word, 'i') || letter(word, 'n'));
    let sets = words.iter().find_map(|word| {
        let Some((_, value)) = word.beginning().split_once('=') else {
            return unknown(word);
        };
        if special && (variable::loads_code(value) || !word.is_known()) {
            return Some(word.shown().to_owned());
        }
        named(word)
    });
    let code = words.iter().any(|word| {
        let text = word.beginning();
        let value = text.split_once('=').map_or("", |(_, value)| value);
        let array = value.starts_with('(') && holds_code(value);
        array || holds_code(if special { text } else { name_of(text) })
    });
    Effects {
        hidden: code.then_some(CODE),
        sets,
        // A value may be an array in a text, and an array may be a number.
        evaluates: special || words.iter().any(|word| !word.is_known()),
        opens_code: special,
        nullglob: false,
    }
}

fn printf(words: &[CommandWord]) -> Effects {
    match words {
        [option, name, ..] if option.beginning().starts_with("-v") => Effects {
            sets: match option.known() {
                Some("-v") => filled(name).or_else(|| unknown(name)),
                _ => Some(option.shown().to_owned()),
            },
            ..evaluating(std::slice::from_ref(name))
        },
        // A format that is not known may be an option.
        [option, name, ..] if !option.is_known() && option.beginning().is_empty() => Effects {
            sets: filled(name),
            ..Effects::default()
        },
        _ => Effects::default(),
    }
}

fn set(words: &[CommandWord]) -> Effects {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.beginning();
        if word.known() == Some("--") || !text.starts_with(['-', '+']) {
            // Operands only become `$1` and so on.
            let hides = text.is_empty() && !word.is_known();
            return match hides {
                true => Effects::hidden("a setting is known only when running"),
                false => Effects::default(),
            };
        }
        let letters = text.get(1..).unwrap_or_default();
        if !word.is_known() || !letters.chars().all(|letter| SET_LETTERS.contains(letter)) {
            return Effects::hidden("a setting changes how the text is read");
        }
        if letters.contains('o') {
            let option = words.next();
            let plain = option.is_none_or(|option| {
                option
                    .known()
                    .is_some_and(|name| SET_OPTIONS.contains(&name))
            });
            if !plain {
                return Effects::hidden("a setting changes how the text is read");
            }
        }
    }
    Effects::default()
}

fn shopt(words: &[CommandWord]) -> Effects {
    let plain = words.iter().all(|word| {
        word.known()
            .is_some_and(|text| text.starts_with('-') || SHOPT_OPTIONS.contains(&text))
    });
    Effects {
        hidden: (!plain).then_some(Stop("a setting changes how the text is read")),
        nullglob: words.iter().any(|word| word.known() == Some("nullglob")),
        ..Effects::default()
    }
}

/// Whether an option with that letter may be given, also among other letters.
fn has(words: &[CommandWord], letter: char) -> bool {
    words.iter().any(|word| {
        let letters = word.beginning().strip_prefix('-');
        word.may_vanish() || letters.is_some_and(|letters| letters.contains(letter))
    })
}

/// The name of a variable that a word sets, if that loads code.
fn named(word: &CommandWord) -> Option<String> {
    let name = name_of(word.beginning());
    (variable::loads_code(name)).then(|| name.to_owned())
}

/// The name of a variable that a builtin fills with what is not known, if that matters.
fn filled(word: &CommandWord) -> Option<String> {
    let moves = word
        .known()
        .filter(|name| matches!(*name, "HOME" | "CDPATH") || variable::is_prompt(name_of(name)));
    moves.map(str::to_owned).or_else(|| named(word))
}

fn unknown(word: &CommandWord) -> Option<String> {
    (!word.is_known()).then(|| word.shown().to_owned())
}

/// The part of an assignment that names the variable.
pub(super) fn name_of(text: &str) -> &str {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let name = name.strip_suffix('+').unwrap_or(name);
    name.split_once('[')
        .filter(|_| !holds_code(name))
        .map_or(name, |(name, _)| name)
}

const READ: Spec = Spec {
    flags: "ersE",
    valued: "adinNptu",
    attached: "",
    long_flags: &[],
    long_valued: &[],
    numbers: false,
};

const MAPFILE: Spec = Spec {
    flags: "t",
    valued: "dnOsuCc",
    ..READ
};

const CODE: Stop = Stop("a subscript would run a command");

/// Letters of `set` that change nothing of what a text says.
const SET_LETTERS: &str = "abefhmnptuvxCEPTo";

const SET_OPTIONS: &[&str] = &[
    "allexport",
    "errexit",
    "errtrace",
    "functrace",
    "ignoreeof",
    "monitor",
    "noclobber",
    "noexec",
    "noglob",
    "nolog",
    "notify",
    "nounset",
    "onecmd",
    "physical",
    "pipefail",
    "privileged",
    "verbose",
    "xtrace",
];

/// Settings of `shopt` that change nothing of what a text says.
const SHOPT_OPTIONS: &[&str] = &[
    "checkhash",
    "checkjobs",
    "checkwinsize",
    "dotglob",
    "execfail",
    "expand_aliases",
    "failglob",
    "globasciiranges",
    "globskipdots",
    "globstar",
    "inherit_errexit",
    "nocaseglob",
    "nocasematch",
    "nullglob",
    "progcomp",
    "shift_verbose",
];
