//! Interpreters: where their program comes from.

use super::field::CommandWord;
use super::options::Spec;
use super::reading::Stop;

/// Whether a word of the call is a program in full; never where it is no interpreter.
///
/// # Errors
/// Why the program cannot be told.
pub(super) fn program(name: &str, words: &[CommandWord]) -> Result<bool, Stop> {
    let words = words.get(1..).unwrap_or_default();
    let base = name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    let interpreter = INTERPRETERS
        .iter()
        .find(|interpreter| interpreter.name == base || interpreter.name == name);
    if let Some(interpreter) = interpreter {
        return interpreter.program(words);
    }
    let evaluates = EVALUATING.iter().find(|(program, _)| *program == name);
    Ok(evaluates.is_some_and(|(_, options)| {
        let given = |word: &CommandWord| {
            let text = word.beginning();
            word.may_vanish()
                || options.iter().any(|option| match option.starts_with("--") {
                    true => {
                        text == *option
                            || text
                                .split_once('=')
                                .is_some_and(|(name, _)| name == *option)
                    }
                    false => text.starts_with(option),
                })
        };
        words.iter().any(given)
    }))
}

struct Interpreter {
    name: &'static str,
    spec: Spec,
    /// Options whose value is the program.
    code: &'static [&'static str],
    /// Those of them whose value names a program and is none.
    named: &'static [&'static str],
    /// Letters that end the options of the interpreter; what follows is for the program.
    last: &'static str,
    /// Options that load a program from a file.
    file: &'static [&'static str],
    /// The first operand is the program.
    operand: bool,
    /// With these nothing runs.
    lone: &'static [&'static str],
}

impl Interpreter {
    fn program(&self, words: &[CommandWord]) -> Result<bool, Stop> {
        let own = self.own(words);
        let scan = self.spec.scan(words.get(..own).unwrap_or(words))?;
        if scan.has(self.lone) {
            return Ok(false);
        }
        if scan.has(self.file) {
            return Err(FROM_FILE);
        }
        let mut code = scan.values(self.code).peekable();
        if code.peek().is_some() {
            return match code.all(CommandWord::is_known) {
                // What awk is given is looked at as its first operand is.
                true => Ok(!self.operand && !scan.has(self.named)),
                false => Err(UNKNOWN),
            };
        }
        match scan.operands.first() {
            None => Err(Stop("an interpreter reads its program from its input")),
            Some(program) if self.operand && program.is_known() => Ok(false),
            Some(_) if self.operand => Err(UNKNOWN),
            Some(_) => Err(FROM_FILE),
        }
    }

    /// How many words can hold options of the interpreter itself.
    fn own(&self, words: &[CommandWord]) -> usize {
        for (at, word) in words.iter().enumerate() {
            let text = word.beginning();
            let Some(letters) = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
                continue;
            };
            let behind = letters.trim_start_matches(|letter| self.spec.flags.contains(letter));
            let mut letters = behind.chars();
            if letters
                .next()
                .is_some_and(|letter| self.last.contains(letter))
            {
                return at + if letters.next().is_none() { 2 } else { 1 };
            }
        }
        words.len()
    }
}

const UNKNOWN: Stop = Stop("the program of an interpreter is known only when running");
const FROM_FILE: Stop = Stop("an interpreter reads its program from a file");

const PLAIN: Interpreter = Interpreter {
    name: "",
    spec: Spec {
        flags: "",
        valued: "",
        attached: "",
        long_flags: &["help", "version"],
        long_valued: &[],
        numbers: false,
    },
    code: &[],
    named: &[],
    last: "",
    file: &[],
    operand: false,
    lone: &["--help", "--version", "-h", "-V", "-v"],
};

const PYTHON: Interpreter = Interpreter {
    name: "python",
    spec: Spec {
        flags: "bBdEhiIOPqsSuvVx",
        valued: "cmWX",
        ..PLAIN.spec
    },
    code: &["-c", "-m"],
    named: &["-m"],
    last: "cm",
    lone: &["-h", "-V", "--help", "--version"],
    ..PLAIN
};

const NODE: Interpreter = Interpreter {
    name: "node",
    spec: Spec {
        flags: "chiv",
        valued: "epr",
        long_flags: &["help", "version", "test", "watch", "check", "interactive"],
        long_valued: &["eval", "print", "require", "import", "loader", "input-type"],
        ..PLAIN.spec
    },
    code: &["-e", "-p", "--eval", "--print"],
    file: &["-r", "--require", "--import", "--loader"],
    lone: &["-h", "-v", "--help", "--version"],
    ..PLAIN
};

const AWK: Interpreter = Interpreter {
    name: "awk",
    spec: Spec {
        valued: "FvfeE",
        long_flags: &["help", "version", "posix", "csv"],
        long_valued: &["assign", "field-separator", "file", "source"],
        ..PLAIN.spec
    },
    code: &["-e", "--source"],
    file: &["-f", "-E", "--file"],
    operand: true,
    lone: &["--help", "--version"],
    ..PLAIN
};

/// Programs that are more than interpreters, and the beginnings of words that give them code.
const EVALUATING: &[(&str, &[&str])] = &[
    ("bun", &["-e", "-p", "--eval", "--print"]),
    ("deno", &["eval", "repl"]),
    (
        "emacs",
        &[
            "--eval",
            "-eval",
            "--execute",
            "-f",
            "--funcall",
            "-l",
            "--load",
        ],
    ),
    ("ex", &["-c", "+", "-S", "--cmd"]),
    ("nvim", &["-c", "+", "-S", "--cmd", "-l"]),
    ("ts-node", &["-e", "-p", "--eval", "--print"]),
    ("tsx", &["-e", "-p", "--eval", "--print"]),
    ("vi", &["-c", "+", "-S", "--cmd"]),
    ("vim", &["-c", "+", "-S", "--cmd"]),
];

const INTERPRETERS: &[Interpreter] = &[
    PYTHON,
    Interpreter {
        name: "pypy",
        ..PYTHON
    },
    NODE,
    Interpreter {
        name: "nodejs",
        ..NODE
    },
    AWK,
    Interpreter {
        name: "gawk",
        ..AWK
    },
    Interpreter {
        name: "mawk",
        ..AWK
    },
    Interpreter {
        name: "nawk",
        ..AWK
    },
    Interpreter {
        name: "perl",
        spec: Spec {
            flags: "acflnpsStTuUvwWX",
            valued: "eEIMm",
            attached: "0CDFix",
            ..PLAIN.spec
        },
        code: &["-e", "-E"],
        lone: &["-v", "--help", "--version"],
        ..PLAIN
    },
    Interpreter {
        name: "ruby",
        spec: Spec {
            flags: "aclnpsSvwh",
            valued: "eIr",
            attached: "0EFKTWix",
            ..PLAIN.spec
        },
        code: &["-e"],
        file: &["-r"],
        lone: &["-v", "-h", "--help", "--version"],
        ..PLAIN
    },
    Interpreter {
        name: "php",
        spec: Spec {
            flags: "aehilmnqsvwE",
            valued: "cdfrBRFSztz",
            ..PLAIN.spec
        },
        code: &["-r", "-B", "-R"],
        file: &["-f", "-F"],
        ..PLAIN
    },
    Interpreter {
        name: "lua",
        spec: Spec {
            flags: "EWiv",
            valued: "el",
            ..PLAIN.spec
        },
        code: &["-e"],
        ..PLAIN
    },
    Interpreter {
        name: "Rscript",
        spec: Spec {
            valued: "e",
            long_flags: &["help", "version", "vanilla", "verbose"],
            ..PLAIN.spec
        },
        code: &["-e"],
        ..PLAIN
    },
    Interpreter {
        name: "osascript",
        spec: Spec {
            flags: "i",
            valued: "els",
            ..PLAIN.spec
        },
        code: &["-e"],
        ..PLAIN
    },
    Interpreter {
        name: "luajit",
        ..PLAIN
    },
    Interpreter {
        name: "tclsh",
        ..PLAIN
    },
    Interpreter {
        name: "expect",
        ..PLAIN
    },
    Interpreter {
        name: "guile",
        ..PLAIN
    },
    Interpreter {
        name: "julia",
        ..PLAIN
    },
    Interpreter {
        name: "groovy",
        ..PLAIN
    },
    Interpreter {
        name: "pwsh",
        ..PLAIN
    },
    Interpreter {
        name: "fish",
        ..PLAIN
    },
    Interpreter {
        name: "csh",
        ..PLAIN
    },
    Interpreter {
        name: "tcsh",
        ..PLAIN
    },
    Interpreter {
        name: "nu",
        ..PLAIN
    },
    Interpreter {
        name: "xonsh",
        ..PLAIN
    },
    Interpreter {
        name: "elvish",
        ..PLAIN
    },
];
