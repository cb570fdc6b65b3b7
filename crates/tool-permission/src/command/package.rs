//! Runners of packages: `npx`, `pnpm dlx`, `uvx` and the like run a program that they may fetch
//! first. The program is looked at by the name of its package, without the version.

use super::field::{CommandWord, Rest};
use super::options::{Scan, Spec};
use super::package_name::Names;
use super::reading::Stop;
use super::runner::joined;
use super::shell::Dialect;
use super::simple::INFORMING;
use super::wrapper::{Inner, Unwrapped};

/// What a runner of packages runs, if the call is one.
pub(super) fn unwrap(name: &str, words: &[CommandWord]) -> Option<Result<Unwrapped, Stop>> {
    match name {
        "corepack" => Some(Ok(corepack(words))),
        _ => match RUNNERS.iter().find(|runner| runner.is(name, "")) {
            Some(runner) => Some(runner.run(words, false)),
            None => subcommand(name, words),
        },
    }
}

/// One way to run a package.
struct Runner {
    program: &'static str,
    /// Empty where the program does nothing else.
    subcommand: &'static str,
    options: Spec,
    names: Names,
    /// Options also count behind the program, up to `--`.
    anywhere: bool,
    /// Without a program it starts a shell.
    shell: bool,
}

impl Runner {
    fn is(&self, program: &str, subcommand: &str) -> bool {
        self.program == program && self.subcommand == subcommand
    }

    /// What it runs; as one line for a shell also where an option before the subcommand says so.
    fn run(&self, words: &[CommandWord], line: bool) -> Result<Unwrapped, Stop> {
        let scan = match self.anywhere {
            true => self.options.scan_all(words),
            false => self.options.scan(words),
        }?;
        if scan.has(INFORMING) || scan.has(&["-h", "-V"]) {
            return Ok(Unwrapped::default());
        }
        let mut inner = Vec::new();
        let texts = scan.values(&["-c", "--call"]);
        inner.extend(texts.map(|text| Inner::Text(text.clone(), Dialect::Plain)));
        if let Some((program, behind)) = scan.operands.split_first() {
            inner.push(match line || is_line(&scan) {
                true => Inner::Text(joined(&scan.operands), Dialect::Plain),
                false => {
                    let mut words = self.names.program(program)?;
                    words.extend_from_slice(behind);
                    Inner::Words(words)
                }
            });
        }
        if inner.is_empty() && self.shell {
            return Err(Stop("a shell reads its program from its input"));
        }
        Ok(Unwrapped {
            elsewhere: true,
            inner,
            ..Unwrapped::default()
        })
    }
}

/// Whether an option makes the operands one line for a shell.
fn is_line(scan: &Scan) -> bool {
    let flag = scan.has(&["-c"]) && scan.value(&["-c"]).is_none();
    flag || scan.has(&["--shell-mode"])
}

/// A runner that is a subcommand, if it is one.
fn subcommand(name: &str, words: &[CommandWord]) -> Option<Result<Unwrapped, Stop>> {
    subcommand_in(name, words, false)
}

/// The same, also of one workspace, which has no further workspace.
fn subcommand_in(
    name: &str,
    words: &[CommandWord],
    workspace: bool,
) -> Option<Result<Unwrapped, Stop>> {
    let (_, before) = MANAGERS.iter().find(|(program, _)| *program == name)?;
    let runners = || RUNNERS.iter().filter(|runner| runner.program == name);
    let running = || {
        let others = OTHERS.iter().filter(|(program, _)| *program == name);
        let others = others.map(|(_, subcommand)| *subcommand);
        others.chain(runners().map(|runner| runner.subcommand))
    };
    let may_be = |word: &CommandWord| match word.known() {
        Some(text) => running().any(|subcommand| subcommand == text),
        None => running().any(|subcommand| subcommand.starts_with(word.beginning())),
    };
    let Ok(scan) = before.scan(words) else {
        // An option that is not known hides the subcommand, if there can be one.
        let hidden = words.iter().any(may_be);
        return hidden.then_some(Err(Stop("an option is not known")));
    };
    let (first, behind) = scan.operands.split_first()?;
    let Some(text) = first.known() else {
        return may_be(first).then_some(Err(HIDDEN));
    };
    match (name, text) {
        ("bun", "exec") => Some(Ok(Unwrapped {
            hidden: Some(Stop("another shell reads a text differently")),
            elsewhere: true,
            ..Unwrapped::text(joined(behind), Dialect::Plain)
        })),
        ("npm", "explo" | "explor" | "explore") => {
            Some(Err(Stop("what runs in a package is not read")))
        }
        ("yarn", "workspace" | "workspaces") if workspace => Some(Err(UNREAD)),
        ("yarn", "workspace") => match behind.split_first()? {
            (name, _) if name.rest() == Rest::Words => {
                Some(Err(Stop("an operand may be several words")))
            }
            (_, behind) => subcommand_in("yarn", behind, true),
        },
        ("yarn", "workspaces") => {
            let runs = |word: &CommandWord| matches!(word.known(), None | Some("exec" | "dlx"));
            behind.iter().any(runs).then_some(Err(UNREAD))
        }
        ("uv", "tool") => match behind.split_first() {
            Some((run, behind)) if run.known() == Some("run") => unwrap("uvx", behind),
            Some((run, _)) if !run.is_known() => Some(Err(HIDDEN)),
            _ => None,
        },
        _ => runners()
            .find(|runner| runner.is(name, text))
            .map(|runner| runner.run(behind, is_line(&scan))),
    }
}

const HIDDEN: Stop = Stop("a subcommand is known only when running");

const UNREAD: Stop = Stop("what runs in a workspace is not read");

/// Subcommands that run something, beside the runners.
const OTHERS: &[(&str, &str)] = &[
    ("bun", "exec"),
    ("npm", "explo"),
    ("npm", "explor"),
    ("npm", "explore"),
    ("yarn", "workspace"),
    ("yarn", "workspaces"),
];

/// `corepack`, which runs a manager of packages in a version of its own.
fn corepack(words: &[CommandWord]) -> Unwrapped {
    let Some((first, behind)) = words.split_first() else {
        return Unwrapped::default();
    };
    let (name, _) = first.beginning().split_once('@').unwrap_or_default();
    let name = if name.is_empty() {
        first.beginning()
    } else {
        name
    };
    match name {
        "npm" | "npx" | "pnpm" | "pnpx" | "yarn" | "yarnpkg" => {
            let program = std::iter::once(CommandWord::literal(name));
            Unwrapped::words(program.chain(behind.iter().cloned()).collect())
        }
        _ if first.is_known() => Unwrapped::default(),
        _ => Unwrapped::words(words.to_vec()),
    }
}

/// Managers of packages, and the options that stand before their subcommand.
const MANAGERS: &[(&str, Spec)] = &[
    ("npm", NPM),
    ("pnpm", PNPM),
    ("yarn", YARN),
    ("bun", BUN),
    ("uv", UV),
    ("pipx", UV),
];

const RUNNERS: &[Runner] = &[
    Runner {
        shell: true,
        ..fetching("npx", "", NPX)
    },
    Runner {
        anywhere: true,
        shell: true,
        ..fetching("npm", "exec", NPX)
    },
    Runner {
        anywhere: true,
        shell: true,
        ..fetching("npm", "x", NPX)
    },
    Runner {
        anywhere: true,
        shell: true,
        ..fetching("npm", "exe", NPX)
    },
    creating("npm", "create", NPX),
    creating("npm", "init", NPX),
    creating("npm", "innit", NPX),
    creating("pnpm", "create", PNPM),
    creating("yarn", "create", YARN),
    creating("bun", "create", BUN),
    creating("bun", "c", BUN),
    fetching("pnpx", "", PNPM),
    fetching("pnpm", "dlx", PNPM),
    Runner {
        names: Names::Program,
        ..fetching("pnpm", "exec", PNPM)
    },
    fetching("yarn", "dlx", YARN),
    Runner {
        names: Names::Program,
        ..fetching("yarn", "exec", YARN)
    },
    fetching("bunx", "", BUN),
    fetching("bun", "x", BUN),
    Runner {
        names: Names::Python,
        ..fetching("uvx", "", UV)
    },
    Runner {
        names: Names::Python,
        ..fetching("uv", "tool", UV)
    },
    Runner {
        names: Names::Script,
        ..fetching("uv", "run", UV)
    },
    Runner {
        names: Names::Python,
        ..fetching("pipx", "run", UV)
    },
];

/// A runner of what makes a new project.
const fn creating(program: &'static str, subcommand: &'static str, options: Spec) -> Runner {
    Runner {
        names: Names::Creator,
        ..fetching(program, subcommand, options)
    }
}

/// A runner that fetches what is not there.
const fn fetching(program: &'static str, subcommand: &'static str, options: Spec) -> Runner {
    Runner {
        program,
        subcommand,
        options,
        names: Names::Npm,
        anywhere: false,
        shell: false,
    }
}

const NPM: Spec = Spec {
    flags: "gsy",
    valued: "Cw",
    long_flags: &["global", "silent", "workspaces", "yes"],
    long_valued: &["prefix", "workspace"],
    ..Spec::NONE
};

const NPX: Spec = Spec {
    flags: "hqsyv",
    valued: "cpw",
    long_flags: &[
        "help",
        "ignore-existing",
        "no",
        "no-install",
        "offline",
        "prefer-offline",
        "prefer-online",
        "quiet",
        "silent",
        "version",
        "workspaces",
        "yes",
    ],
    long_valued: &["call", "package", "prefix", "registry", "workspace"],
    ..Spec::NONE
};

const PNPM: Spec = Spec {
    flags: "chrsvw",
    valued: "CF",
    long_flags: &[
        "help",
        "no-bail",
        "no-sort",
        "parallel",
        "recursive",
        "report-summary",
        "shell-mode",
        "silent",
        "stream",
        "version",
        "workspace-root",
    ],
    long_valued: &[
        "allow-build",
        "dir",
        "filter",
        "package",
        "reporter",
        "resume-from",
        "workspace-concurrency",
    ],
    ..Spec::NONE
};

const YARN: Spec = Spec {
    flags: "hqsv",
    valued: "p",
    long_flags: &["help", "quiet", "silent", "version"],
    long_valued: &["cwd", "package"],
    ..Spec::NONE
};

const BUN: Spec = Spec {
    flags: "bhv",
    valued: "p",
    long_flags: &["bun", "help", "no-install", "silent", "verbose", "version"],
    long_valued: &["cwd", "package"],
    ..Spec::NONE
};

/// Options of `uvx` and `uv run`, and of `pipx`; those of them that name another program to run
/// are not here.
const UV: Spec = Spec {
    flags: "hnqUvV",
    valued: "ipw",
    long_flags: &[
        "all-extras",
        "all-groups",
        "exact",
        "fetch-missing-python",
        "frozen",
        "help",
        "isolated",
        "locked",
        "no-cache",
        "no-dev",
        "no-progress",
        "no-project",
        "no-sync",
        "offline",
        "quiet",
        "refresh",
        "system-site-packages",
        "upgrade",
        "verbose",
        "version",
    ],
    long_valued: &[
        "default-index",
        "directory",
        "extra",
        "from",
        "group",
        "index",
        "index-url",
        "only-group",
        "package",
        "pip-args",
        "project",
        "python",
        "spec",
        "with",
        "with-editable",
        "with-requirements",
    ],
    ..Spec::NONE
};
