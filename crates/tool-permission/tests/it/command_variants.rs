//! Ways to write the same act, whatever the act is.

/// A line in every way of writing it that leaves what it does, each with its name.
pub(crate) fn variants(line: &str) -> Vec<(&'static str, String)> {
    let quoted = quoted(line);
    let backquoted = line
        .replace('\\', "\\\\")
        .replace('`', "\\`")
        .replace('$', "\\$");
    vec![
        ("itself", line.to_owned()),
        ("behind a semicolon", format!("ls; {line}")),
        ("behind a newline", format!("ls\n{line}")),
        ("before a newline", format!("{line}\nls")),
        ("chain", format!("ls && {{ {line}\n}}")),
        ("other chain", format!("ls || {{ {line}\n}}")),
        ("subshell", format!("( {line}\n)")),
        ("group", format!("{{ {line}\n}}")),
        ("background", format!("{{ {line}\n}} & ls")),
        ("pipeline", format!("ls | {{ {line}\n}}")),
        ("negation", format!("! {{ {line}\n}}")),
        ("quoted program", format!("\"ba\"sh -'c' {quoted}")),
        ("escaped program", format!("b\\ash \\-c {quoted}")),
        ("ANSI-C quoted program", format!("$'\\x62ash' -c {quoted}")),
        ("absolute path", format!("/bin/bash -c {quoted}")),
        ("wrapper", format!("timeout 5 nohup bash -c {quoted}")),
        ("wrapper env", format!("env bash -c {quoted}")),
        ("wrapper sudo", format!("sudo -n bash -c {quoted}")),
        ("wrapper xargs", format!("xargs bash -c {quoted}")),
        ("wrapper find", format!("find . -exec bash -c {quoted} ';'")),
        ("env prefix", format!("A=1 bash -c {quoted}")),
        ("env prefix of env", format!("env -i A=1 bash -c {quoted}")),
        ("substitution", format!("ls \"$( {line}\n)\"")),
        ("backquotes", format!("ls `{backquoted}\n`")),
        ("process substitution", format!("ls <( {line}\n)")),
        ("assignment", format!("x=$( {line}\n)")),
        ("default", format!("ls ${{x:-$( {line}\n)}}")),
        ("redirect", format!("{{ {line}\n}} > /dev/null 2>&1")),
        (
            "here-document",
            format!("bash <<'THE-END'\n{line}\nTHE-END"),
        ),
        (
            "here-document with a substitution",
            format!("cat <<THE-END\n$( {line}\n)\nTHE-END"),
        ),
        ("here-string", format!("bash <<< {quoted}")),
        ("function", format!("the_act() {{ {line}\n}}; the_act")),
        ("condition", format!("if true; then {line}\nfi")),
        ("loop", format!("for x in 1; do {line}\ndone")),
        ("case", format!("case x in x) {line}\n;; esac")),
        ("trap", format!("trap {quoted} EXIT")),
        ("evaluation", format!("eval {quoted}")),
    ]
}

/// A line with a program in other spellings, wherever the program stands as a word.
pub(crate) fn respelled(line: &str, program: &str) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for (how, before) in [
        ("path of the program", "/usr/bin/"),
        ("path from here", "./x/../"),
    ] {
        let other = with_words(line, program, &format!("{before}{program}"));
        lines.push((how, other));
    }
    lines
}

/// Replaces a word where it stands between blanks, operators or quotes.
fn with_words(line: &str, word: &str, by: &str) -> String {
    let mut made = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(word) {
        let (before, from) = rest.split_at(at);
        let behind = &from[word.len()..];
        let starts = !before.ends_with(|c: char| c.is_alphanumeric() || "-_/.\\'\"".contains(c))
            || before.ends_with(" '")
            || before.ends_with(" \"")
            || before.ends_with("='");
        let ends = behind.is_empty() || behind.starts_with([' ', '\n', ';', ')', '\'', '"', ',']);
        made.push_str(before);
        made.push_str(if starts && ends { by } else { word });
        rest = behind;
    }
    made + rest
}

/// A text in single quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
