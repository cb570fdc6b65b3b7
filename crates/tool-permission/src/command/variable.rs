//! Variables that pick or load code.

/// Whether setting the variable may change which code a command runs.
pub(super) fn loads_code(name: &str) -> bool {
    EXACT.contains(&name)
        || STARTS.iter().any(|start| name.starts_with(start))
        || ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether the variable says what other words mean: the table of aliases, that of programs.
pub(super) fn redefines(name: &str) -> bool {
    matches!(name, "BASH_ALIASES" | "BASH_CMDS")
}

/// Whether the shell expands the value when it prints a prompt or a trace.
pub(super) fn is_prompt(name: &str) -> bool {
    matches!(name, "PS0" | "PS1" | "PS2" | "PS3" | "PS4")
}

/// Whether the text is a name that a variable can have.
pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

const EXACT: &[&str] = &[
    "PATH",
    "ENV",
    "IFS",
    "SHELLOPTS",
    "PROMPT_COMMAND",
    "FPATH",
    "ZDOTDIR",
    "VISUAL",
    "GCONV_PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "GIT_ASKPASS",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_TEMPLATE_DIR",
];

/// `BASH_` has the start-up file, the table of commands, that of aliases and exported functions.
const STARTS: &[&str] = &["LD_", "DYLD_", "BASH_", "BASHOPTS", "GIT_SSH", "GIT_CONFIG"];

const ENDS: &[&str] = &["PAGER", "EDITOR"];
