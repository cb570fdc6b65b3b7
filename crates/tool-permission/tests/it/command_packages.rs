//! Runners of packages, `npx` and the like: what they run counts as if it stood alone.

use tool_core::Decision::{Allow, Ask, Deny};
use tool_permission::CommandAnalysis;

use crate::command_rules::{EVERYTHING, check};

#[test]
fn what_a_runner_of_packages_runs_needs_a_rule_and_is_denied_as_elsewhere() {
    for (runner, line) in [
        ("uv", "uv run --with x -p 3.12 git status"),
        ("uv", "uv tool run git@2 status"),
        ("uvx", "uvx --from x 'git[all]==2' status"),
        ("pipx", "pipx run --spec x git status"),
        ("npx", "npx --yes -p x git@^2.1 status"),
        ("npx", "npx -c 'git status'"),
        ("npm", "npm exec git -- status"),
        ("npm", "npm exec --package=x -- git status"),
        ("npm", "npm --prefix a x -c 'git status'"),
        ("pnpm", "pnpm -r exec git status"),
        ("pnpm", "pnpm --filter a exec -c 'git status'"),
        ("pnpm", "pnpm dlx git status"),
        ("pnpx", "pnpx git status"),
        ("yarn", "yarn dlx -q git status"),
        ("yarn", "yarn workspace a exec git status"),
        ("bun", "bun x git status"),
        ("bunx", "bunx --bun git@latest status"),
        ("corepack", "corepack npx@9 git status"),
    ] {
        let runners = match runner {
            "corepack" => "allow shell corepack *, allow shell npx *".to_owned(),
            _ => format!("allow shell {runner} *"),
        };
        let git = "allow shell git status *";
        check(git, line, Ask);
        check(&runners, line, Ask);
        check(&format!("{git}, {runners}"), line, Allow);
        let denied = format!("{EVERYTHING}, deny shell git status *");
        check(&denied, line, Deny);
        check(&format!("{EVERYTHING}, deny shell {runner} *"), line, Deny);
    }
}

#[test]
fn what_makes_a_project_is_the_program_that_is_fetched_for_it() {
    let rules = format!("{EVERYTHING}, deny shell create-vite *, deny shell @a/create-b *");
    for line in [
        "npm create vite@latest x",
        "npm init -y vite",
        "pnpm create vite",
        "yarn create vite",
        "bun create vite",
        "npm create @a/b",
    ] {
        check(&rules, line, Deny);
    }
    check(&rules, "npm init -y", Allow);
    check(&rules, "npm create other", Allow);
    check("allow shell npm *", "npm create other", Ask);
}

#[test]
fn a_manager_of_packages_that_runs_none_needs_no_more_than_its_own_rule() {
    for line in [
        "npm ci",
        "npm run build",
        "npm --loglevel=error test",
        "npx --version",
        "pnpm --filter a test",
        "pnpm install --frozen-lockfile",
        "yarn",
        "yarn workspace a build",
        "yarn workspaces info",
        "bun test",
        "bun install",
        "uv sync",
        "uv tool install ruff",
        "pipx list",
        "corepack enable",
    ] {
        check(EVERYTHING, line, Allow);
    }
}

#[test]
fn a_package_or_an_option_that_is_not_read_is_opaque() {
    for line in [
        "npx",
        "npm exec",
        "npx https://example.org/x.tgz",
        "npx github:a/b",
        "npx a/b",
        "npx rimraf@npm:other x",
        "npx \"$X\" a",
        "npx $X",
        "npx --strange rimraf x",
        "npm --strange exec x",
        "npm explore a -- ls",
        "pnpm $X rimraf",
        "pnpm --strange 1 dlx rimraf",
        "yarn workspaces foreach exec ls",
        "bun exec 'ls'",
        "bunx a/b",
        "uvx git+https://example.org/x",
        "uv run -",
        "uv run x.py",
        "uv run https://example.org/x.py",
        "uv run -m x",
        "pipx run https://example.org/x.py",
    ] {
        let analysis = CommandAnalysis::new("/repo", "/repo", line);
        assert!(analysis.opaque().is_some(), "{line}");
        check(EVERYTHING, line, Ask);
    }
    let rules = format!("{EVERYTHING}, deny shell ls *, deny shell python *");
    check(&rules, "bun exec 'ls'", Deny);
    check(&rules, "uv run x.py", Deny);
}

#[test]
fn a_subcommand_that_may_run_something_is_not_hidden_by_what_stands_before_it() {
    for line in [
        "poetry \"$(echo run)\" rm -rf x",
        "poetry r$X rm x",
        "bundle $X rm x",
        "bun --smol exec 'rm -rf x'",
        "bun --smol \"e$X\" 'rm -rf x'",
        "npm --loglevel silly explore a -- rm -rf x",
        "npm explor a -- rm -rf x",
        "yarn --strange workspace a exec rm x",
        "yarn \"$X\" a exec rm x",
        "yarn work$X a exec rm x",
        "yarn workspace a workspace b exec rm x",
        "yarn --cwd d workspaces foreach exec rm x",
    ] {
        let analysis = CommandAnalysis::new("/repo", "/repo", line);
        assert!(analysis.opaque().is_some(), "{line}");
        check(EVERYTHING, line, Ask);
    }
    let rules = format!("{EVERYTHING}, deny shell rm *");
    check(&rules, "yarn --cwd d workspace a exec rm x", Deny);
    check(EVERYTHING, "poetry \"add$X\" x", Allow);
    check(EVERYTHING, "npm --loglevel silly test", Allow);
    check(EVERYTHING, "bun --smol test", Allow);
    check(EVERYTHING, "yarn workspace", Allow);
}

#[test]
fn an_option_before_the_subcommand_makes_a_line_for_a_shell_too() {
    let rules = format!("{EVERYTHING}, deny shell rm *");
    for line in [
        "pnpm -c exec 'rm -rf x'",
        "pnpm -rc exec 'ls; rm -rf x'",
        "pnpm --shell-mode exec 'rm -rf x'",
        "pnpm exec -c 'rm -rf x'",
    ] {
        check(&rules, line, Deny);
    }
    check(&rules, "pnpm -c exec 'ls x'", Allow);
}
