//! Makes lines of which every command runs, and whose words are spelled in every way there is.

use crate::command_grammar::Random;
use crate::command_pieces::{BRACES, EXPANSIONS, PLAIN, QUOTED};
use crate::command_variants::quoted;

/// Writes one line. A program `c1` is in no folder; `m1` is, for those that another program runs.
pub(crate) struct Writer<'r> {
    random: &'r mut Random,
    /// How many names were given away.
    made: usize,
    /// How many more constructs may be made.
    left: usize,
    /// What is written runs or not, depending on a status.
    guarded: bool,
    /// How many substitutions stand around.
    inside: usize,
}

impl<'r> Writer<'r> {
    /// One line.
    pub(crate) fn line(random: &'r mut Random) -> String {
        let left = 1 + random.below(9);
        let mut writer = Self {
            random,
            made: 0,
            left,
            guarded: false,
            inside: 0,
        };
        let line = writer.list(0);
        match writer.random.below(4) {
            0 => format!("{line}\n"),
            1 => format!("  {line} # it's ( done\n"),
            _ => line,
        }
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.random.below(one_in) == 0
    }

    fn number(&mut self) -> usize {
        self.made += 1;
        self.made
    }

    /// A program in one of its spellings.
    fn program(&mut self, letter: char) -> String {
        let number = self.number();
        match self.random.below(12) {
            0 => format!("\\{letter}{number}"),
            1 => format!("'{letter}'{number}"),
            2 => format!("\"{letter}{number}\""),
            3 => format!("{letter}\\\n{number}"),
            4 => format!("$'{letter}'{number}"),
            5 => format!("{letter}''{number}"),
            _ => format!("{letter}{number}"),
        }
    }

    /// A program with its words, which another may run.
    fn command(&mut self, letter: char, depth: usize) -> String {
        let program = self.program(letter);
        let words = self.words(depth);
        format!("{program}{words}")
    }

    fn words(&mut self, depth: usize) -> String {
        let mut words = String::new();
        for _ in 0..self.random.below(4) {
            let space = self.random.of(&[" ", " ", " ", "  ", "\t", " \\\n"]);
            words.push_str(space);
            words.push_str(&self.word(depth));
        }
        words
    }

    fn word(&mut self, depth: usize) -> String {
        let mut word = String::new();
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(16) {
                0..=4 => word.push_str(self.random.of(PLAIN)),
                5..=10 => word.push_str(self.random.of(QUOTED)),
                11..=12 => word.push_str(self.random.of(BRACES)),
                13..=14 => word.push_str(self.random.of(EXPANSIONS)),
                _ if self.left > 0 => {
                    self.left -= 1;
                    word.push_str(&self.running(depth + 1));
                }
                _ => word.push('z'),
            }
        }
        word
    }

    /// A word with a command in it.
    fn running(&mut self, depth: usize) -> String {
        let list = self.inner(depth);
        let backquoted = |list: &str| list.replace('\\', "\\\\").replace('`', "\\`");
        match self.random.below(10) {
            0 => format!("\"a $( {list}) b\""),
            1 => format!("`{} `", backquoted(&list)),
            2 => format!("<( {list})"),
            // Other words set `u`.
            3 => format!("${{n:-$( {list})}}"),
            4 => format!("\"${{n:-$( {list})}}\""),
            5 => format!("$(( 1 + 0$( {list}) ))"),
            6 => format!("\"$(( $( {list})1 ))\""),
            7 => format!("${{PWD/x/$( {list})}}"),
            _ => format!("$( {list})"),
        }
    }

    /// A command and what a status makes of it.
    fn simple(&mut self, depth: usize) -> String {
        let command = self.command('c', depth);
        let before = match self.random.below(8) {
            0 => format!("x={} ", self.word(depth)),
            1 => format!("x=a y+={} ", self.word(depth)),
            _ => String::new(),
        };
        let behind = match self.random.below(3) {
            0 => format!(" {}", self.redirect(depth)),
            _ => String::new(),
        };
        match self.chance(6) && !behind.is_empty() {
            true => format!("{}{before}{command}", behind.trim_start().to_owned() + " "),
            false => format!("{before}{command}{behind}"),
        }
    }

    /// A redirect that can be made, whatever is there.
    fn redirect(&mut self, depth: usize) -> String {
        let number = self.number();
        match self.random.below(16) {
            0 => format!("> o{number}"),
            1 => format!(">> \"o {number}\""),
            2 => format!("2> sub/o{number}"),
            3 => format!("&> 'o{number}'"),
            4 => format!(">| o\\ {number}"),
            5 => format!("{{fd}}> o{number}"),
            6 => format!("<> o{number}"),
            7 => format!("2>&1 >./sub/../o{number}"),
            8 => "< /dev/null".to_owned(),
            9 => "2>&1".to_owned(),
            10 => format!("<<< {}", self.word(depth)),
            11 => format!("&>> $'o{number}'"),
            12 => format!(">& o{number}"),
            13 => format!(">o{number} 2>/dev/null"),
            14 => format!("> {{a,o}}{number}x").replace("{a,o}", "'{a,o}'"),
            _ => "> /dev/null".to_owned(),
        }
    }

    /// Commands one after the other. Ends where a `)` or a separator may follow.
    fn list(&mut self, depth: usize) -> String {
        let mut text = self.statement(depth);
        while self.left > 0 && self.chance(2) {
            self.left -= 1;
            let joint = self.random.of(&[
                "; ",
                "\n",
                ";",
                " ;\n",
                "\n\n",
                " # it's (\n",
                "\t;\t",
                " & ",
                " &\n",
            ]);
            text.push_str(joint);
            text.push_str(&self.statement(depth));
        }
        // Behind a here-document a line has to end.
        text.push('\n');
        text
    }

    /// A list in a substitution.
    fn inner(&mut self, depth: usize) -> String {
        self.inside += 1;
        let list = self.list(depth);
        self.inside -= 1;
        list
    }

    /// What runs only if a status says so, where nothing else says so too.
    fn branch(&mut self, depth: usize) -> String {
        let before = std::mem::replace(&mut self.guarded, true);
        let list = self.list(depth);
        self.guarded = before;
        list
    }

    fn statement(&mut self, depth: usize) -> String {
        if self.left == 0 || depth > 4 {
            return self.simple(depth);
        }
        self.left -= 1;
        let depth = depth + 1;
        if !self.guarded && self.chance(3) {
            return self.conditional(depth);
        }
        match self.random.below(25) {
            0 => format!("( {})", self.list(depth)),
            1 => format!("{{ {}}}", self.list(depth)),
            2 => format!("{} | {}", self.simple(depth), self.simple(depth)),
            3 => format!("{} | {}", self.command('c', depth), self.simple(depth)),
            4 => format!("! {}", self.simple(depth)),
            5 => format!(
                "for i in x {}; do {}done",
                self.word(depth),
                self.list(depth)
            ),
            6 => format!("for ((i=0;i<2;i++)); do {}done", self.list(depth)),
            7 => self.case(depth),
            8 => {
                let number = self.number();
                let body = self.list(depth);
                let form = self.random.below(3);
                let head = [
                    format!("f{number}()"),
                    format!("function f{number}"),
                    format!("f{number} ( )\n"),
                ];
                format!("{} {{ {body}}}; f{number}{}", head[form], self.words(depth))
            }
            9 => self.document(depth),
            10 => self.document(depth),
            11 => format!("[[ -n {} ]]", self.running(depth)),
            12 => format!("[[ x == \"$( {})\" ]]", self.inner(depth)),
            13 => format!("(( 1 + $( {})1 ))", self.inner(depth)),
            14 => format!(
                "a=( {} \"$( {})\" ); {}",
                self.word(depth),
                self.inner(depth),
                self.command('c', depth)
            ),
            15 => format!("declare x=\"$( {})\"", self.inner(depth)),
            16 => {
                let wrapper = self.random.of(&[
                    "env",
                    "env A=1 B='x y'",
                    "nice -n 1",
                    "timeout 9",
                    "command",
                    "env -u A --",
                    "nohup",
                    "setsid -w",
                    "stdbuf -oL",
                    "env nice timeout -k 1 9",
                    "command -p --",
                    "command env",
                ]);
                format!("{wrapper} {} < /dev/null", self.command('m', depth))
            }
            17 => format!("( exec {}\n)", self.command('m', depth)),
            18 => format!("bash -c {} x 'y z'", quoted(&self.list(depth))),
            19 => format!("{{ {}}} {}", self.list(depth), self.redirect(depth)),
            20 => format!("time {}", self.simple(depth)),
            21 => format!("while :; do {}break; done", self.list(depth)),
            22 => format!("test -n {} || :", self.word(depth)),
            23 => format!("x={}; {}", self.word(depth), self.simple(depth)),
            _ => self.simple(depth),
        }
    }

    /// Something of which a part runs where programs succeed, and another where they fail.
    fn conditional(&mut self, depth: usize) -> String {
        let first = self.command('c', depth);
        match self.random.below(7) {
            0 => format!("{first} && {{ {}}}", self.branch(depth)),
            1 => format!("{first} ||\n {{ {}}}", self.branch(depth)),
            2 => {
                let (yes, no) = (self.branch(depth), self.branch(depth));
                format!("if {first}; then {yes}else {no}fi")
            }
            3 => format!("if ! {first}\nthen\n{}fi", self.branch(depth)),
            4 => format!("while {first}; do {}break; done", self.branch(depth)),
            5 => format!("until {first}; do {}break; done", self.branch(depth)),
            _ => {
                let (yes, no) = (self.branch(depth), self.branch(depth));
                format!("{first}; case $? in 0) {yes};; (1 | 2) {no};; esac")
                    .replace("\n;;", "\n;;")
            }
        }
    }

    fn case(&mut self, depth: usize) -> String {
        let (first, second) = (self.list(depth), self.list(depth));
        match self.random.below(3) {
            0 => format!("case abc in (a*) {first};& y) {second};; esac"),
            1 => format!("case \"a b\" in 'a b'|c) {first};;& *) {second}esac"),
            _ => format!(
                "case x in\n x|'y)')\n{first};;\nesac; {}",
                second.trim_end()
            ),
        }
    }

    fn document(&mut self, depth: usize) -> String {
        let (program, number) = (self.program('c'), self.number());
        let after = self.simple(depth);
        match self.random.below(5) {
            0 => format!("{program} <<'E{number}'\n$(c0) `c0` ' \" body\nE{number}\n{after}"),
            1 => format!(
                "{program} <<-E{number}\n\tit's $( {}) body\n\tE{number}\n{after}",
                self.inner(depth)
            ),
            2 => {
                format!(
                    "{program} <<E{number} | {after}\n\\$(c0) $( {}) \"\nE{number}",
                    self.inner(depth)
                ) + "\n:"
            }
            3 => format!(
                "bash <<'E{number}'\n{}E{number}\n{after}",
                self.inner(depth)
            ),
            _ => {
                let body = self.word(depth).replace('`', "").replace("$(c0", "");
                format!("{program} x <<\"E{number}\" > o{number}\n{body}\nE{number}\n{after}")
            }
        }
    }
}
