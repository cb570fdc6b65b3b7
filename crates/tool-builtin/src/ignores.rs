//! Which files a search leaves out.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The ignore rules that hold in one folder: its own and those of the folders above, up to the
/// workspace. Nothing outside the workspace has a say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ignores {
    rules: Option<Arc<Rules>>,
}

#[derive(Debug)]
struct Rules {
    above: Option<Arc<Rules>>,
    own: Gitignore,
}

/// Folders of version control hold no work of their own.
const NEVER: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// Files with rules, the later ones stronger.
const FILES: [&str; 3] = [".git/info/exclude", ".gitignore", ".ignore"];

/// No sane file of rules is longer; the rest of such a one is not read.
const MOST_BYTES: u64 = 1024 * 1024;

impl Ignores {
    /// The rules inside a folder, given those of the folder above.
    pub(crate) fn inside(&self, folder: &Path, handle: &Dir) -> Self {
        let mut builder = GitignoreBuilder::new(PathBuf::from("/").join(folder));
        let mut any = false;
        for name in FILES {
            let Some(text) = text_of(handle, name) else {
                continue;
            };
            for line in text.lines() {
                // A line that is no pattern matches nothing, as in git.
                any |= builder.add_line(None, line).is_ok();
            }
        }
        match builder.build() {
            Ok(own) if any && !own.is_empty() => Self {
                rules: Some(Arc::new(Rules {
                    above: self.rules.clone(),
                    own,
                })),
            },
            _ => self.clone(),
        }
    }

    /// Whether an entry of the folder is left out. Nearer rules beat those from further above.
    pub(crate) fn leave_out(&self, path: &Path, is_folder: bool) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| NEVER.contains(&name)) {
            return true;
        }
        let path = Path::new("/").join(path);
        let mut rules = self.rules.as_deref();
        while let Some(these) = rules {
            match these.own.matched(&path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = these.above.as_deref(),
            }
        }
        false
    }
}

fn text_of(handle: &Dir, name: &str) -> Option<String> {
    let file = crate::place::open_file(handle, Path::new(name)).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
