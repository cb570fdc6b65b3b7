//! A path in all the forms in which rules see it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::resolve::{self, Unresolved};
use crate::subject::{Spelling, Subject};
use crate::volume::{Volume, Volumes};

/// What is known of the file system that paths live in.
#[derive(Clone)]
pub(crate) struct Places {
    pub(crate) home: Option<PathBuf>,
    pub(crate) volumes: Arc<dyn Volumes>,
}

/// A path that was looked at: as it is spelled, and as it really is.
#[derive(Debug)]
pub(crate) struct Place {
    spelled: Form,
    real: Option<Form>,
    hidden: Option<&'static str>,
}

/// One form of a path, in all its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// It lies outside of the root.
    pub(crate) outside: bool,
    /// The names that deny and ask rules see.
    pub(crate) strict: Vec<Subject>,
    /// The names that allow rules see.
    pub(crate) allow: Vec<Subject>,
}

/// Why a path names nothing. Such a path is never allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum NoPlace {
    #[error("the path is empty")]
    Empty,
    #[error("the path holds a NUL")]
    Nul,
    #[error("the folder that the path starts from is not absolute")]
    Relative,
    #[error(transparent)]
    Unresolved(#[from] Unresolved),
}

impl Places {
    /// Looks at a path that starts at `base`; below `root` is inside.
    pub(crate) fn find(&self, root: &Path, base: &Path, path: &Path) -> Result<Place, NoPlace> {
        if path.as_os_str().is_empty() {
            return Err(NoPlace::Empty);
        }
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(NoPlace::Nul);
        }
        if !root.is_absolute() || !base.is_absolute() {
            return Err(NoPlace::Relative);
        }
        let path = match (below_home(path), &self.home) {
            (None, _) => base.join(path),
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_), None) => return Ok(Place::unknown_home(path)),
        };

        let mut hidden = path
            .to_str()
            .is_none()
            .then_some("the path is not written in Unicode");
        let real = match (resolve::real(root), resolve::real(&path)) {
            (Ok(root), Ok(path)) => Some((root, path)),
            (Err(Unresolved::Loop), _) | (_, Err(Unresolved::Loop)) => {
                return Err(Unresolved::Loop.into());
            }
            (Err(Unresolved::Hidden), _) | (_, Err(Unresolved::Hidden)) => {
                hidden = Some("a folder of the path cannot be looked into");
                None
            }
        };

        let spelled_root = resolve::lexical(root);
        let spelled_path = resolve::lexical(&path);
        let volume = match &real {
            Some((root, path)) => self.volume(root, path),
            None => Volume::Unknown,
        };
        let mut roots = vec![spelled_root.as_path()];
        roots.extend(real.as_ref().map(|(root, _)| root.as_path()));
        Ok(Place {
            spelled: Form::new(&roots, &spelled_path, volume),
            real: real
                .as_ref()
                .map(|(root, path)| Form::new(&[root], path, volume)),
            hidden,
        })
    }

    /// What holds for a whole path: that of its root and of the folder it is in, and not known
    /// where they differ.
    fn volume(&self, root: &Path, path: &Path) -> Volume {
        let at_root = self.volumes.volume(resolve::nearest_folder(root));
        let folder = resolve::nearest_folder(path.parent().unwrap_or(path));
        if at_root == self.volumes.volume(folder) {
            at_root
        } else {
            Volume::Unknown
        }
    }
}

impl Place {
    /// The distinct forms.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &Form> {
        let real = self.real.iter().filter(|real| **real != self.spelled);
        std::iter::once(&self.spelled).chain(real)
    }

    /// Why it cannot be allowed, although it may name something.
    pub(crate) fn hidden(&self) -> Option<&'static str> {
        self.hidden
    }

    /// A path below a home directory that is not known: rules that spell it so still deny it.
    fn unknown_home(path: &Path) -> Self {
        Self {
            spelled: Form::outside(&resolve::lexical(path), Volume::Unknown),
            real: None,
            hidden: Some("the home directory is not known"),
        }
    }
}

impl Form {
    /// A form of an absolute path; below any of the roots is inside.
    fn new(roots: &[&Path], path: &Path, volume: Volume) -> Self {
        let mut form = Self::outside(path, volume);
        if let Some(inside) = below(roots, path, Spelling::Exact) {
            form.make_inside();
            form.add(&inside, volume);
        } else if volume != Volume::KeepsCase
            && let Some(inside) = below(roots, path, Spelling::Caseless)
        {
            // A root in another case is the same folder, or may be.
            if volume == Volume::IgnoresCase {
                form.make_inside();
                form.add(&inside, volume);
            } else {
                form.add_strict(&inside, volume);
            }
        }
        form
    }

    fn outside(path: &Path, volume: Volume) -> Self {
        let mut form = Self {
            outside: true,
            strict: Vec::new(),
            allow: Vec::new(),
        };
        form.add(&text(path), volume);
        form
    }

    /// Leaves the absolute name to rules with an absolute path.
    fn make_inside(&mut self) {
        self.outside = false;
        for subject in self.strict.iter_mut().chain(&mut self.allow) {
            subject.root();
        }
    }

    /// Adds a name in the spellings that count.
    ///
    /// Allow rules see only those that are surely the same file: in another case where the volume
    /// ignores it, and no text whose accents may be written otherwise.
    fn add(&mut self, name: &str, volume: Volume) {
        self.add_strict(name, volume);
        let name = named(name);
        self.allow.push(Subject::path(name));
        if volume == Volume::IgnoresCase && name.is_ascii() {
            self.allow.push(Subject::spelled(name, Spelling::Caseless));
        }
    }

    /// Adds a name in every spelling that may be the same file, for deny and ask rules.
    fn add_strict(&mut self, name: &str, volume: Volume) {
        let name = named(name);
        self.strict.push(Subject::path(name));
        if !name.is_ascii() {
            self.strict.push(Subject::spelled(name, Spelling::Composed));
        }
        if volume != Volume::KeepsCase {
            self.strict.push(Subject::spelled(name, Spelling::Caseless));
        }
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places")
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

/// The resource of a rule in all forms in which paths are compared with it: as it is written, and
/// where the folders before its first wildcard are absolute and lead elsewhere, as they lead.
///
/// With a workspace this goes for folders relative to it, too.
pub(crate) fn rule_texts(
    resource: &str,
    home: Option<&Path>,
    workspace: Option<&Path>,
) -> Vec<String> {
    let written = rule_text(resource, home);
    let literal = match written.find(['*', '?']) {
        Some(wildcard) => written
            .get(..wildcard)
            .and_then(|start| start.rfind('/'))
            .unwrap_or(0),
        None => written.len(),
    };
    let (folder, rest) = written.split_at_checked(literal).unwrap_or(("", &written));
    let mut texts: Vec<String> = Vec::new();
    if Path::new(folder).is_absolute() {
        let real = resolve::real(Path::new(folder)).ok();
        texts.extend(real.map(|real| format!("{}{rest}", text(&real))));
    } else if let Some(root) = workspace.filter(|_| !folder.is_empty() && !folder.starts_with('~'))
    {
        let led = resolve::real(root)
            .ok()
            .zip(resolve::real(&root.join(folder)).ok());
        texts.extend(led.map(
            |(root, real)| match below(&[&root], &real, Spelling::Exact) {
                Some(inside) if inside.is_empty() => named(rest.trim_start_matches('/')).to_owned(),
                Some(inside) => format!("{inside}{rest}"),
                None => format!("{}{rest}", text(&real)),
            },
        ));
    }
    texts.retain(|real| *real != written);
    texts.push(written);
    texts
}

/// The resource of a rule in the form in which paths are compared: a leading `~` is the home
/// directory, and `.`, doubled and last slashes are gone.
pub(crate) fn rule_text(resource: &str, home: Option<&Path>) -> String {
    let expanded;
    let resource = match (resource.strip_prefix('~'), home.map(text)) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            expanded = format!("{}{rest}", home.trim_end_matches('/'));
            &expanded
        }
        _ => resource,
    };
    let mut segments: Vec<&str> = resource
        .split('/')
        .filter(|segment| !matches!(*segment, "" | "."))
        .collect();
    segments.dedup_by(|a, b| a == b && *a == "**");
    let plain = segments.join("/");
    match (resource.starts_with('/'), plain.is_empty()) {
        (true, _) => format!("/{plain}"),
        (false, true) => ".".to_owned(),
        (false, false) => plain,
    }
}

/// The rest of a path below one of the roots, in that spelling.
fn below(roots: &[&Path], path: &Path, spelling: Spelling) -> Option<String> {
    let path = spelling.fold(&text(path));
    roots.iter().find_map(|root| {
        let root = spelling.fold(&text(root));
        let rest = path.strip_prefix(root.trim_end_matches('/'))?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/').to_owned())
    })
}

/// The name of a place inside; the root itself is `.`.
fn named(inside: &str) -> &str {
    if inside.is_empty() { "." } else { inside }
}

/// The rest of a path that starts with `~`.
fn below_home(path: &Path) -> Option<&Path> {
    path.strip_prefix("~").ok()
}

/// A path as text, with `/` between its folders.
fn text(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text.into_owned()
    }
}
