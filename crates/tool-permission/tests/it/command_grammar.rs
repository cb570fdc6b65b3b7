//! Makes lines for bash with a numbered command in every place that runs.

use crate::command_variants::quoted;

/// A source of numbers that is the same in every run.
pub(crate) struct Random(u64);

/// Makes one line, and remembers the commands in it.
pub(crate) struct Grammar<'r> {
    random: &'r mut Random,
    made: usize,
    /// How many more constructs may be made.
    left: usize,
    /// How many here-documents were made.
    documents: usize,
    /// How many substitutions stand around.
    inside: usize,
    /// The line has here-documents in substitutions, most of which are opaque.
    documents_inside: bool,
    /// The line has texts that only look like substitutions. Beside arithmetic they are opaque.
    decoys: bool,
}

/// What stands around a substitution.
#[derive(Clone, Copy, PartialEq)]
enum Around {
    Nothing,
    DoubleQuotes,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap() % bound
    }

    pub(crate) fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// The name of a numbered command.
pub(crate) fn marker(number: usize) -> String {
    format!("m{number}")
}

impl<'r> Grammar<'r> {
    /// One line and how many numbered commands it has.
    pub(crate) fn line(random: &'r mut Random) -> (String, usize) {
        let left = 2 + random.below(14);
        let mut grammar = Self {
            documents_inside: random.below(4) == 0,
            decoys: random.below(4) == 0,
            random,
            made: 0,
            left,
            documents: 0,
            inside: 0,
        };
        let line = format!("{}\n{}", grammar.marked(), grammar.list(0));
        (line, grammar.made)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.random.below(one_in) == 0
    }

    /// The next numbered command.
    fn marked(&mut self) -> String {
        let number = self.made;
        self.made += 1;
        let name = marker(number);
        match self.random.below(10) {
            0 => format!("{name} a"),
            1 => format!("{name} 'it is; m'"),
            2 => format!("\\{name}"),
            3 => format!("m'{number}'"),
            4 => format!("\"{name}\" b"),
            5 => format!("m\\\n{number} c"),
            6 if self.decoys => format!("{name} \\$\\(m\\)"),
            _ => name,
        }
    }

    /// Commands one after the other. Ends where a `)` or a keyword behind `;` may follow.
    fn list(&mut self, depth: usize) -> String {
        let mut text = self.statement(depth);
        while self.left > 0 && self.chance(2) {
            let joint = self.random.of(&[
                "; ",
                "\n",
                " && ",
                " || ",
                " | ",
                " & ",
                ";",
                "&&",
                "|",
                " |\n",
                " &&\n",
                " # it's\n",
                " \\\n; ",
                " |& ",
                "\n\n  ",
                "\t;\t",
            ]);
            text.push_str(joint);
            text.push_str(&self.statement(depth));
        }
        text
    }

    /// A list in braces or the like, which a separator has to end.
    fn body(&mut self, depth: usize) -> String {
        let list = self.list(depth);
        let end = self.random.of(&["; ", "\n", " ;\n", " & ", " # don't\n"]);
        format!("{list}{end}")
    }

    fn statement(&mut self, depth: usize) -> String {
        if self.left == 0 || depth > 6 {
            return self.marked();
        }
        self.left -= 1;
        let depth = depth + 1;
        match self.random.below(25) {
            0 => format!("( {} )", self.list(depth)),
            1 => format!("{{ {}}}", self.body(depth)),
            2 => {
                let (a, b) = (self.body(depth), self.body(depth));
                format!("if {a}then {b}fi")
            }
            3 => {
                let (a, b, c) = (self.body(depth), self.body(depth), self.body(depth));
                let d = self.body(depth);
                format!("if {a}then {b}elif {c}then\n{d}else {}fi", self.body(depth))
            }
            4 => {
                let word = self.random.of(&["while", "until"]);
                let (a, b) = (self.body(depth), self.body(depth));
                format!("{word} {a}do {b}break; done")
            }
            5 => {
                let words = self.words(depth);
                format!("for i in x{words}; do {}done", self.body(depth))
            }
            6 => {
                let a = self.count(depth);
                format!("for ((i=0;i<1 + 0 * {a};i++)); do {}done", self.body(depth))
            }
            7 => self.case(depth),
            8 => {
                let name = self
                    .random
                    .of(&["f ()", "f()", "function f", "function f ()"]);
                format!("{name} {{ {}}}; f", self.body(depth))
            }
            // Behind a pipe neither `!` nor `time` would be a keyword.
            9 => format!("{{ ! {}\n}}", self.statement(depth)),
            10 => format!("[[ {} ]]", self.condition(depth)),
            11 => format!("(( 1 + 0 * {} ))", self.count(depth)),
            12 => self.assigned(depth),
            13 => self.redirected(depth),
            14..=15 if self.inside == 0 || self.documents_inside => self.document(depth),
            16 => self.wrapped(depth),
            17 => self.inner_shell(depth),
            18 => {
                let text = quoted(&self.list(depth));
                format!("trap {text} EXIT")
            }
            19 => format!("{{ time {}\n}}", self.statement(depth)),
            20 => format!("test -n {}", self.word(depth)),
            // A line with `eval` is opaque, which hides what else it may show.
            21 if self.chance(8) => format!("eval {}", quoted(&self.list(depth))),
            22 => {
                let pattern = self
                    .random
                    .of(&["[[ $x =~ ^(\\(|#) ]] && ", "[[ x == @(a|\\)) ]] || "]);
                format!("{pattern}{}", self.marked())
            }
            _ => {
                let words = self.words(depth);
                let program = self.marked();
                format!("{program}{words}")
            }
        }
    }

    fn case(&mut self, depth: usize) -> String {
        let subject = self.word(depth);
        let open = self.random.of(&["", "("]);
        let pattern = match self.chance(3) {
            true => format!("x|{}", self.word(depth)),
            false => "*".to_owned(),
        };
        let first = self.list(depth);
        let end = self.random.of(&[" ;;", ";;\n", " ;&", " ;;& ", "\n;; "]);
        let second = self.list(depth);
        format!("case {subject} in {open}{pattern}) {first}{end} (y | 'z)') {second}\nesac")
    }

    fn condition(&mut self, depth: usize) -> String {
        if self.chance(6) {
            return format!("1 -eq {}", self.count(depth));
        }
        let word = self.word(depth);
        match self.random.below(6) {
            0 => format!("-n {word}"),
            1 => format!("x == {word}"),
            2 => format!("x =~ ^(a|{word})$"),
            3 => format!("! ( -z {word} && x < y )"),
            4 => format!("{word} || -n {}", self.word(depth)),
            _ => format!("( {word} != y )\n|| x"),
        }
    }

    fn assigned(&mut self, depth: usize) -> String {
        if self.chance(6) {
            let count = self.count(depth);
            return format!("a[0 * {count}]={}", self.word(depth));
        }
        let word = self.word(depth);
        match self.random.below(7) {
            0 => format!("x={word}"),
            1 => format!("x={word} y=1 {}", self.marked()),
            2 => format!("x=(a {word} [2]=b)"),
            3 => format!("export x={word}"),
            4 => format!("x+={word}"),
            5 => format!("declare -a x=( {word} )"),
            _ => format!("x=({word}\nb # it's\n)"),
        }
    }

    fn redirected(&mut self, depth: usize) -> String {
        let statement = self.statement(depth);
        if statement.contains("<<") {
            return statement;
        }
        let redirect = match self.random.below(7) {
            0 => " > out".to_owned(),
            1 => " 2>&1".to_owned(),
            2 => format!(" > >({})", self.list(depth)),
            3 => format!(" <<< {}", self.word(depth)),
            4 => format!(" >> \"$(echo out; {})\"", self.list(depth)),
            5 => " &> out".to_owned(),
            _ => format!(" < <({})", self.list(depth)),
        };
        format!("{{ {statement}\n}}{redirect}")
    }

    /// A command with one or two here-documents.
    fn document(&mut self, depth: usize) -> String {
        let program = self.marked();
        let operator = self.random.of(&["<<", "<<-", "<< ", "3<<"]);
        let behind = match self.random.below(4) {
            0 => format!("; {}", self.marked()),
            1 => format!(" | {}", self.marked()),
            2 => " > out".to_owned(),
            _ => String::new(),
        };
        let after = self.marked();
        let (first, second) = (self.delimiter(), self.delimiter());
        match self.random.below(4) {
            0 => {
                let body = "$(m) ` \" ' body";
                format!("{program} {operator}'{first} x'{behind}\n{body}\n{first} x\n{after}")
            }
            1 => {
                let body = self.text(depth);
                format!(
                    "{program} {operator}{first} <<\"{second}\"x{behind}\n{body}\n{first}\n\
                     $(m\n{second}x\n{after}"
                )
            }
            2 => {
                let body = self.text(depth);
                format!("{program} {operator}{first}{behind}\n{body}\n{first}\n{after}")
            }
            _ => {
                let (body, more) = (self.text(depth), self.text(depth));
                format!(
                    "{program} {operator}{first} <<{second}{behind}\n{body}\n{first}\n\
                     {more}\n{second}\n{after}"
                )
            }
        }
    }

    fn delimiter(&mut self) -> String {
        self.documents += 1;
        format!("E{}", self.documents)
    }

    /// Text in which substitutions run, with characters that would mean something elsewhere.
    fn text(&mut self, depth: usize) -> String {
        let inner = self.substitution(depth, Around::Nothing);
        let before = match self.decoys {
            true => self.random.of(&["\\$(m) ", "'$(m) "]),
            false => self.random.of(&["it's ", "( ", "# ", "<( ", "", "} "]),
        };
        format!("{before}{inner} )")
    }

    fn wrapped(&mut self, depth: usize) -> String {
        let wrapper = self.random.of(&[
            "env",
            "env A=1",
            "timeout 9",
            "nice -n 1",
            "nohup",
            "command",
            "command -p",
            "exec",
            "env -u A --",
            "nice timeout -k 1 9 env B=2",
            "setsid -w",
            "stdbuf -oL",
        ]);
        let program = self.marked();
        format!("( {wrapper} {program}{} )", self.words(depth))
    }

    fn inner_shell(&mut self, depth: usize) -> String {
        let list = self.list(depth);
        match self.random.below(4) {
            0 => {
                let end = self.delimiter();
                format!("bash <<'{end}'\n{list}\n{end}\n{}", self.marked())
            }
            1 => format!("bash <<< {}", quoted(&list)),
            2 => format!("env bash -ec {}", quoted(&list)),
            _ => format!("bash -c {} x y", quoted(&list)),
        }
    }

    fn words(&mut self, depth: usize) -> String {
        let mut words = String::new();
        while self.left > 0 && self.chance(2) {
            words.push(' ');
            words.push_str(&self.word(depth));
        }
        words
    }

    /// A word with something in it that runs.
    fn word(&mut self, depth: usize) -> String {
        if depth > 6 {
            return "x".to_owned();
        }
        let depth = depth + 1;
        match self.random.below(12) {
            0 => format!("\"a {} b\"", self.substitution(depth, Around::DoubleQuotes)),
            1 => format!("p{}q", self.substitution(depth, Around::Nothing)),
            2 => format!("<({})", self.list(depth)),
            3 => format!("${{u:-{}}}", self.substitution(depth, Around::Nothing)),
            4 => format!(
                "\"${{u:-{}}}\"",
                self.substitution(depth, Around::DoubleQuotes)
            ),
            5 => format!("$(( 1 + 0 * {} ))", self.count(depth)),
            6 => format!("${{l[{}]}}", self.count(depth)),
            7 if self.decoys => format!(
                "\"${{u#{}}}\"'$(m)'",
                self.substitution(depth, Around::DoubleQuotes)
            ),
            8 => format!("${{u/x/{}}}", self.substitution(depth, Around::Nothing)),
            9 if self.decoys => format!("$'\\'$(m'{}", self.substitution(depth, Around::Nothing)),
            10 => format!("{{a,{}}}", self.substitution(depth, Around::Nothing)),
            _ => self.substitution(depth, Around::Nothing),
        }
    }

    fn substitution(&mut self, depth: usize, around: Around) -> String {
        self.inside += 1;
        let list = self.list(depth);
        self.inside -= 1;
        if self.chance(3) {
            return backquoted(&list, around);
        }
        let space = if list.starts_with('(') { " " } else { "" };
        let end = self.random.of(&["", " ", "\n"]);
        format!("$({space}{list}{end})")
    }

    /// A substitution that counts, for arithmetic.
    fn count(&mut self, depth: usize) -> String {
        let list = self.list(depth + 1);
        format!("$( {list}\n)1")
    }
}

/// A text in backquotes.
fn backquoted(text: &str, around: Around) -> String {
    let mut escaped = text.replace('\\', "\\\\").replace('`', "\\`");
    if around == Around::DoubleQuotes {
        escaped = escaped.replace('"', "\\\"");
    }
    format!("`{escaped}\n`")
}
