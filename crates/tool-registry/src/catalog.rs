//! Everything that is registered, and the sorted picture of it.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use foldhash::fast::RandomState;
use tokio::sync::watch;
use tool_core::{Identity, Problem, ProblemKind, WireName};

use crate::services::Services;
use crate::{Changes, Entry, Notice, RefusedEntry, Registration};

/// The live registrations.
pub(crate) struct Live {
    state: Mutex<State>,
    /// The picture of the state, made anew by the first snapshot after a change.
    picture: ArcSwap<Catalog>,
    stale: AtomicBool,
    version: watch::Sender<u64>,
    services: Arc<Services>,
}

#[derive(Default)]
struct State {
    last_token: u64,
    stacks: HashMap<Identity, Vec<Layer>>,
    /// Identities by their legal spelling, to notice the ones that read alike.
    spellings: HashMap<String, Vec<Identity>>,
    /// Who has which wire name: a hash tail is short enough to be met on purpose.
    wire_names: HashMap<WireName, Identity>,
}

struct Layer {
    token: u64,
    entry: Arc<Entry>,
}

/// What one snapshot sees: the uppermost entry of every identity, sorted by wire name.
#[derive(Debug)]
pub(crate) struct Catalog {
    /// What its calls use, beside it so that a call shares one thing and not two.
    pub(crate) services: Arc<Services>,
    entries: Vec<Arc<Entry>>,
    by_wire_name: HashMap<WireName, usize, RandomState>,
    /// Names that were there and are not for this request.
    withdrawn: HashSet<String>,
}

impl Live {
    pub(crate) fn new(services: Arc<Services>) -> Self {
        let empty = Catalog::new(Vec::new(), HashSet::new(), Arc::clone(&services));
        Self {
            services,
            state: Mutex::default(),
            picture: ArcSwap::from_pointee(empty),
            stale: AtomicBool::new(false),
            version: watch::Sender::new(0),
        }
    }

    pub(crate) fn changes(&self) -> Changes {
        Changes::new(self.version.subscribe())
    }

    /// Whether references to artifacts can be redeemed at all.
    pub(crate) fn redeems_artifacts(&self) -> bool {
        self.services.artifacts.is_some()
    }

    /// The picture of what is registered now.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        if self.stale.load(Ordering::Acquire) {
            let state = self.state();
            if self.stale.load(Ordering::Acquire) {
                let old = self.picture.swap(Arc::new(state.picture(&self.services)));
                // Cleared when the new picture hangs, so that nobody takes the old one for new,
                // and under the lock, so that no change between is overlooked.
                self.stale.store(false, Ordering::Release);
                drop(state);
                // The last holder of a tool may be this picture; see `remove`.
                drop(old);
            }
        }
        self.picture.load_full()
    }

    /// Registers what was offered, refusing what would meet another tool. With `all_or_none`, one
    /// refusal leaves everything as it was.
    pub(crate) fn insert(
        self: &Arc<Self>,
        offered: Vec<Result<Entry, RefusedEntry>>,
        all_or_none: bool,
    ) -> Registration {
        // Declared ahead of the lock, so that a refused tool is dropped behind it; see `remove`.
        let mut discarded = Vec::new();
        let mut state = self.state();
        let (mut healthy, mut refused) = (Vec::with_capacity(offered.len()), Vec::new());
        for offer in offered {
            match offer {
                Ok(entry) => match state.conflict(&entry) {
                    None => healthy.push(entry),
                    Some(problem) => {
                        let name = entry.identity().name().as_str().to_owned();
                        refused.push(RefusedEntry::new(name, vec![problem]));
                        discarded.push(entry);
                    }
                },
                Err(refusal) => refused.push(refusal),
            }
        }
        if all_or_none && !refused.is_empty() {
            discarded.append(&mut healthy);
        }

        state.last_token += 1;
        let token = state.last_token;
        let (mut registered, mut notices) = (Vec::with_capacity(healthy.len()), Vec::new());
        for entry in healthy {
            notices.extend(state.notices(&entry));
            registered.push((entry.identity().clone(), entry.wire_name().clone()));
            state.push(token, entry);
        }
        if !registered.is_empty() {
            self.mark(state);
        }
        Registration::new(Arc::clone(self), token, registered, refused, notices)
    }

    /// Removes what one registration brought.
    ///
    /// What a tool captured is dropped outside the lock: it may own registrations of its own.
    pub(crate) fn remove(&self, token: u64, entries: &[(Identity, WireName)]) {
        if entries.is_empty() {
            return;
        }
        let mut state = self.state();
        let mut removed = Vec::with_capacity(entries.len());
        for (identity, _) in entries {
            state.pull(token, identity, &mut removed);
        }
        self.mark(state);
    }

    fn mark(&self, state: MutexGuard<'_, State>) {
        self.stale.store(true, Ordering::Release);
        drop(state);
        self.version.send_modify(|version| *version += 1);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push(&mut self, token: u64, entry: Entry) {
        let identity = entry.identity().clone();
        let alike = self.spellings.entry(spelling(&identity)).or_default();
        if !alike.contains(&identity) {
            alike.push(identity.clone());
        }
        self.wire_names
            .insert(entry.wire_name().clone(), identity.clone());
        self.stacks.entry(identity).or_default().push(Layer {
            token,
            entry: Arc::new(entry),
        });
    }

    fn pull(&mut self, token: u64, identity: &Identity, removed: &mut Vec<Layer>) {
        let Some(stack) = self.stacks.get_mut(identity) else {
            return;
        };
        for layer in stack.extract_if(.., |layer| layer.token == token) {
            self.wire_names.remove(layer.entry.wire_name());
            removed.push(layer);
        }
        for layer in &*stack {
            // Layers of one identity may be advertised by several names, and two by the same.
            self.wire_names
                .insert(layer.entry.wire_name().clone(), identity.clone());
        }
        if !stack.is_empty() {
            return;
        }
        self.stacks.remove(identity);
        let spelling = spelling(identity);
        if let Some(alike) = self.spellings.get_mut(&spelling) {
            alike.retain(|other| other != identity);
            if alike.is_empty() {
                self.spellings.remove(&spelling);
            }
        }
    }

    fn conflict(&self, entry: &Entry) -> Option<Problem> {
        if let Some(other) = self.wire_names.get(entry.wire_name())
            && other != entry.identity()
        {
            return Some(Problem::new(ProblemKind::Conflict, same_wire_name(other)));
        }
        let below = self.stacks.get(entry.identity())?.last()?;
        (below.entry.source() != entry.source()).then(|| {
            Problem::new(
                ProblemKind::Conflict,
                format!(
                    "{} has registered a tool of that name; use another namespace",
                    below.entry.source()
                ),
            )
        })
    }

    fn notices(&self, entry: &Entry) -> Vec<Notice> {
        let identity = entry.identity();
        let name = identity.name().as_str().to_owned();
        let mut notices = Vec::new();
        let authored = match identity.namespace() {
            Some(namespace) => format!("{namespace}__{name}"),
            None => name.clone(),
        };
        if authored != entry.wire_name().as_str() {
            notices.push(Notice::Renamed {
                name: name.clone(),
                wire: entry.wire_name().clone(),
            });
        }
        let alike = self
            .spellings
            .get(&spelling(identity))
            .into_iter()
            .flatten();
        notices.extend(
            alike
                .filter(|other| *other != identity)
                .map(|other| Notice::Alike {
                    name: name.clone(),
                    other: other.clone(),
                }),
        );
        notices
    }

    fn picture(&self, services: &Arc<Services>) -> Catalog {
        let uppermost = self.stacks.values().filter_map(|stack| stack.last());
        Catalog::new(
            uppermost.map(|layer| Arc::clone(&layer.entry)).collect(),
            HashSet::new(),
            Arc::clone(services),
        )
    }
}

impl Catalog {
    /// A picture of these entries, sorted by wire name.
    pub(crate) fn new(
        mut entries: Vec<Arc<Entry>>,
        withdrawn: HashSet<String>,
        services: Arc<Services>,
    ) -> Self {
        entries.sort_unstable_by(|a, b| a.wire_name().cmp(b.wire_name()));
        let by_wire_name = entries
            .iter()
            .enumerate()
            .map(|(index, entry)| (entry.wire_name().clone(), index))
            .collect();
        Self {
            services,
            entries,
            by_wire_name,
            withdrawn,
        }
    }

    pub(crate) fn withdrawn(&self) -> &HashSet<String> {
        &self.withdrawn
    }

    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    pub(crate) fn get(&self, wire_name: &str) -> Option<&Arc<Entry>> {
        self.find(wire_name).map(|(_, entry)| entry)
    }

    /// The tool of a wire name and where it stands.
    pub(crate) fn find(&self, wire_name: &str) -> Option<(Position, &Arc<Entry>)> {
        let index = *self.by_wire_name.get(wire_name)?;
        Some((Position(index), self.entries.get(index)?))
    }

    /// The tool that stands there.
    pub(crate) fn at(&self, Position(index): Position) -> Option<&Arc<Entry>> {
        self.entries.get(index)
    }
}

/// Where a tool stands in its catalog.
#[derive(Clone, Copy)]
pub(crate) struct Position(usize);

/// Room for a position that is told once.
pub(crate) struct Place(AtomicUsize);

impl Place {
    const NOWHERE: usize = usize::MAX;

    pub(crate) fn set(&self, Position(index): Position) {
        self.0.store(index, Ordering::Release);
    }

    pub(crate) fn get(&self) -> Option<Position> {
        let index = self.0.load(Ordering::Acquire);
        (index != Self::NOWHERE).then_some(Position(index))
    }
}

impl Default for Place {
    fn default() -> Self {
        Self(AtomicUsize::new(Self::NOWHERE))
    }
}

/// What is wrong with a tool whose name on the wire is another's.
pub(crate) fn same_wire_name(other: &Identity) -> String {
    format!("its wire name is that of \"{other}\"; choose another name")
}

/// An identity with its characters made legal and nothing else done to it.
fn spelling(identity: &Identity) -> String {
    let legal = |text: &str| -> String {
        text.chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .collect()
    };
    match identity.namespace() {
        Some(namespace) => format!(
            "{}__{}",
            legal(namespace.as_str()),
            legal(identity.name().as_str())
        ),
        None => legal(identity.name().as_str()),
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Live(..)")
    }
}
