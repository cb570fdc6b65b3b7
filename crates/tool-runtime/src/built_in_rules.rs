//! The rules that hold where nobody wrote any.

use tool_permission::{Layer, LoadError, Rule};

/// Rules for a gateway on a developer's folder: files of the workspace may be read, but those that
/// usually hold secrets are asked about, retained output may be read back, and a model may be told
/// how servers are doing. Writing a file that
/// runs code later by being there (hooks and settings of git, what a shell reads when it starts,
/// keys and settings of ssh, timers, what starts with a session, the rules of this program) is
/// asked every time, whatever rules allow and whatever was answered with "always" before.
/// Everything else is left to rules of your own, and is asked about where there are none.
///
/// As deny beats ask beats allow in any layer, rules of your own can tighten these; an ask is
/// lifted by nothing but an answer.
///
/// # Errors
/// Never, unless the rule language changed under it: the tests hold it.
pub fn built_in_rules() -> Result<Layer, LoadError> {
    let secrets = ["**/.env", "**/.env.*", "**/*.pem", "**/id_rsa*"];
    let allow = [
        Rule::allow("read", "**"),
        Rule::allow("output", "*"),
        Rule::allow("status", "servers"),
    ];
    let ask = secrets.map(|pattern| Rule::ask("read", pattern));
    let runs = RUNS_CODE.iter().map(|pattern| {
        Rule::ask("write", pattern)
            .sticky()
            .reason("a file that runs code later")
    });
    Layer::new("built in", allow.into_iter().chain(ask).chain(runs))
}

/// Files that run code later by being there.
const RUNS_CODE: &[&str] = &[
    "**/.git/config",
    "**/.git/config.worktree",
    "**/.git/hooks/**",
    "**/.git/modules/**",
    "**/.gitconfig",
    "**/.config/git/**",
    "**/.husky/**",
    "**/.bashrc",
    "**/.bash_aliases",
    "**/.bash_login",
    "**/.bash_logout",
    "**/.bash_profile",
    "**/.profile",
    "**/.zlogin",
    "**/.zprofile",
    "**/.zshenv",
    "**/.zshrc",
    "**/.config/fish/**",
    "**/.xinitrc",
    "**/.xprofile",
    "**/.vimrc",
    "**/.config/nvim/**",
    "**/.ssh/**",
    "**/.config/autostart/**",
    "**/.config/systemd/**",
    "**/LaunchAgents/**",
    "**/LaunchDaemons/**",
    "/etc/**",
    "/var/spool/cron/**",
    "**/.cargo/config",
    "**/.cargo/config.toml",
    "**/.vscode/tasks.json",
    "**/.vscode/settings.json",
    "**/tool.toml",
    "**/mcp.json",
    "**/.mcp.json",
];
