//! Commands that fetch what they run.

/// A package that is fetched in whatever version is newest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unpinned {
    pub(crate) package: String,
    pub(crate) fix: String,
}

/// How a launcher is told what to run.
#[derive(Clone, Copy)]
enum Kind {
    Node,
    Python,
    Image,
}

/// Launchers by their words.
const LAUNCHERS: [(&[&str], Kind); 12] = [
    (&["npx"], Kind::Node),
    (&["bunx"], Kind::Node),
    (&["pnpx"], Kind::Node),
    (&["npm", "exec"], Kind::Node),
    (&["pnpm", "dlx"], Kind::Node),
    (&["yarn", "dlx"], Kind::Node),
    (&["bun", "x"], Kind::Node),
    (&["uvx"], Kind::Python),
    (&["uv", "tool", "run"], Kind::Python),
    (&["pipx", "run"], Kind::Python),
    (&["docker", "run"], Kind::Image),
    (&["podman", "run"], Kind::Image),
];
/// Options that name what is fetched, in place of the first word.
const NAMING: [&str; 4] = ["--package", "-p", "--from", "--spec"];
/// Options that take the next word, of launchers of packages.
const TAKING: [&str; 12] = [
    "--python",
    "--with",
    "--with-requirements",
    "--index",
    "--index-url",
    "--default-index",
    "--extra-index-url",
    "--directory",
    "--project",
    "--cache-dir",
    "--prefix",
    "--registry",
];
/// Options of images that stand alone; all others take a word, unless they hold "=".
const ALONE: [&str; 12] = [
    "--rm",
    "--init",
    "-i",
    "-t",
    "-it",
    "-ti",
    "-d",
    "--interactive",
    "--tty",
    "--detach",
    "--read-only",
    "--privileged",
];

/// The package that a command fetches without saying in which version, if it does.
pub(crate) fn unpinned(words: &[&str]) -> Option<Unpinned> {
    let (kind, rest) = (0..words.len()).find_map(|at| {
        let here = words.get(at..)?;
        let launcher = LAUNCHERS
            .iter()
            .find(|(launcher, _)| is_call_of(here, launcher))?;
        Some((launcher.1, here.get(launcher.0.len()..)?))
    })?;
    let package = match kind {
        Kind::Image => image(rest)?,
        Kind::Node | Kind::Python => package(rest, kind)?,
    };
    let pinned = match kind {
        Kind::Node => is_exact(package.get(1..).and_then(|name| name.split_once('@'))),
        Kind::Python => package.contains("==") || is_exact(package.split_once('@')),
        Kind::Image => {
            let last = package.rsplit('/').next().unwrap_or(package);
            let tag = last.split_once(':').map(|(_, tag)| tag);
            package.contains("@sha256:") || tag.is_some_and(|tag| tag != "latest")
        }
    };
    // What lies in a folder is not fetched.
    if pinned || package.starts_with(['.', '/']) {
        return None;
    }
    let name = match kind {
        Kind::Node => match package.get(1..).and_then(|rest| rest.find('@')) {
            Some(at) => package.get(..=at).unwrap_or(package),
            None => package,
        },
        Kind::Python => package
            .split(['@', '>', '<', '~', '!', '='])
            .next()
            .unwrap_or(package),
        Kind::Image => package.strip_suffix(":latest").unwrap_or(package),
    };
    let exactly = match kind {
        Kind::Node => format!("{name}@1.2.3"),
        Kind::Python => format!("{name}==1.2.3"),
        Kind::Image => format!("{name}@sha256:..., or a tag of a version"),
    };
    Some(Unpinned {
        package: package.to_owned(),
        fix: format!("say which one is meant, as in {exactly}"),
    })
}

/// Whether words begin with those of a launcher, in whatever folder it lies.
fn is_call_of(words: &[&str], launcher: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let name = first.rsplit(['/', '\\']).next().unwrap_or(first);
    let name = name.trim_end_matches(".exe").trim_end_matches(".cmd");
    launcher
        .split_first()
        .is_some_and(|(command, more)| name == *command && rest.get(..more.len()) == Some(more))
}

/// What a launcher of packages fetches.
fn package<'a>(words: &[&'a str], kind: Kind) -> Option<&'a str> {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, Some(value)),
            _ => (word, None),
        };
        // To one of them it is the interpreter.
        let names = NAMING.contains(&option) && !(option == "-p" && matches!(kind, Kind::Python));
        if names {
            return value.or_else(|| words.next());
        }
        if option == "--" {
            return words.next();
        }
        if !option.starts_with('-') {
            return Some(word);
        }
        if value.is_none() && (TAKING.contains(&option) || option == "-p") {
            words.next();
        }
    }
    None
}

/// What a launcher of containers runs.
fn image<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return Some(word);
        }
        if !word.contains('=') && !ALONE.contains(&word) {
            words.next();
        }
    }
    None
}

/// Whether a name is followed by one version, and not by a range or a word for the newest.
fn is_exact(named: Option<(&str, &str)>) -> bool {
    named.is_some_and(|(_, version)| {
        let numbers = version.split(['-', '+']).next().unwrap_or_default();
        let parts: Vec<&str> = numbers.split('.').collect();
        let is_number =
            |part: &&str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
        parts.len() >= 2 && parts.iter().all(is_number)
    })
}

#[cfg(test)]
mod tests;
