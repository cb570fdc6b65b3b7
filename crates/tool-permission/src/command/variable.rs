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

/// Whether a prompt that is set to the text may run something when it is printed: the shell decodes
/// `\044`, then expands. What stands at its end may come together with a text that is added.
pub(super) fn prompt_runs(text: &str) -> bool {
    let mut pairs = text.as_bytes().windows(2);
    let decodes = pairs.any(|pair| matches!(pair, [b'\\', b'0'..=b'9']));
    let holds = text.contains("$(") || text.contains("$[") || text.contains('`');
    let may_go_on = text.ends_with(['$', '\\']);
    let expands = text.split("${").skip(1).any(|inside| !is_plain(inside));
    decodes || holds || may_go_on || expands
}

/// Whether what follows `${` is a variable or an element with a number, and an operator that
/// evaluates nothing.
fn is_plain(inside: &str) -> bool {
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let behind = inside.trim_start_matches(is_name);
    if behind.len() == inside.len() {
        return false;
    }
    let behind = match behind.strip_prefix('[') {
        None => behind,
        Some(index) => {
            let rest = index.trim_start_matches(|char: char| char.is_ascii_digit());
            match rest.strip_prefix(']').filter(|_| rest.len() < index.len()) {
                Some(behind) => behind,
                None => return false,
            }
        }
    };
    behind
        .strip_prefix(':')
        .unwrap_or(behind)
        .starts_with(['-', '+', '?'])
        || behind.starts_with(['}', '#', '%', '/', ',', '^'])
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
    "PERL5SHELL",
    "PHPRC",
    "PYTHONBREAKPOINT",
    "PYTHONUSERBASE",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LESSOPEN",
    "LESSCLOSE",
    "MAKEFILES",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "RSYNC_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "TAR_OPTIONS",
    "OPENSSL_CONF",
    "RIPGREP_CONFIG_PATH",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "DOTNET_STARTUP_HOOKS",
    "EXINIT",
    "VIMINIT",
    "GIT_ALLOW_PROTOCOL",
    "GIT_ASKPASS",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_TEMPLATE_DIR",
];

/// `BASH_` has the start-up file, the table of commands, that of aliases and exported functions.
const STARTS: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH_",
    "BASHOPTS",
    "GIT_SSH",
    "GIT_CONFIG",
    "LUA_INIT",
];

const ENDS: &[&str] = &["PAGER", "EDITOR"];
