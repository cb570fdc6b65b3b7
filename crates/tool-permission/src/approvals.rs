//! Where saved approvals are kept.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tool_core::{State, StateError, StateReading, StateVersion};

use crate::kept::{MOST_ATTEMPTS, VERSION, document, millis};
use crate::saved::Approved;
use crate::{Approval, Scope};

/// The saved approvals of one project.
///
/// Kept in a [`State`], they are shared by all gateways that use it: what one grants or revokes
/// holds in the others with their next decision. Without one they live as long as the process.
/// Clones are the same approvals.
///
/// State that cannot be read allows nothing, and one whose text is not understood is left as it is.
///
/// ```
/// use tool_permission::{Approval, Approvals, Scope};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let approvals = Approvals::in_memory();
/// let approval = Approval::new("fetch", "https://docs.rs/*", Scope::Project);
/// let granted = approvals.grant([approval], None).await?;
/// assert_eq!(approvals.list().await?.len(), 1);
/// assert!(approvals.revoke(&granted[0].id).await?);
/// assert!(approvals.list().await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Approvals(Arc<Inner>);

struct Inner {
    state: Option<Arc<dyn State>>,
    key: String,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    seen: RwLock<Seen>,
}

/// What was read or written last.
#[derive(Clone, Default)]
struct Seen {
    version: Option<StateVersion>,
    approved: Arc<Approved>,
}

/// Approvals that were saved, and what they replaced.
pub(crate) struct Replaced {
    pub(crate) granted: Vec<Approval>,
    before: Vec<Approval>,
}

/// Approvals that could not be read or changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ApprovalsError {
    /// The state could not be read or written.
    #[error("saved approvals could not be reached")]
    State(#[from] StateError),
    /// What is kept is not understood; nothing of it is in force.
    #[error("saved approvals are kept in a form that is not understood")]
    Form(#[source] serde_json::Error),
    /// Another version of this library keeps them.
    #[error("saved approvals are kept in version {0} of their form, which is not known")]
    Version(u32),
    /// The approval can never hold.
    #[error("the approval can not be saved: {0}")]
    Useless(String),
    /// As many are kept as may be.
    #[error("{} approvals are saved already; revoke some", Approvals::MOST)]
    Full,
    /// Others changed them all the time.
    #[error("saved approvals change too fast to be written")]
    Contended,
}

/// How approvals are written down.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    approvals: Vec<Approval>,
}

impl Approvals {
    /// How many may be saved at a time.
    pub const MOST: usize = 10_000;

    /// Approvals that are forgotten when the process ends.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::build(None, String::new())
    }

    /// Approvals of a project that are kept in a state, under the key `approvals/` and the
    /// project.
    pub fn kept_in(state: Arc<dyn State>, project: &str) -> Self {
        Self::build(Some(state), format!("approvals/{project}"))
    }

    fn build(state: Option<Arc<dyn State>>, key: String) -> Self {
        Self(Arc::new(Inner {
            state,
            key,
            clock: Arc::new(SystemTime::now),
            seen: RwLock::default(),
        }))
    }

    /// The same with another clock, which tells what has expired.
    #[must_use]
    pub fn with_clock(&self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            state: self.0.state.clone(),
            key: self.0.key.clone(),
            clock: Arc::new(clock),
            seen: RwLock::new(self.seen()),
        }))
    }

    /// All that hold, the oldest first.
    ///
    /// # Errors
    /// [`ApprovalsError`] when they cannot be read.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn list(&self) -> Result<Vec<Approval>, ApprovalsError> {
        self.refresh().await?;
        let now = self.now();
        let kept = self.seen().approved;
        let mut list: Vec<_> = kept
            .all()
            .filter(|approval| !approval.is_over(now))
            .cloned()
            .collect();
        list.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        Ok(list)
    }

    /// Saves approvals, all or none, from now on and for that long; forever without a time. One
    /// that is saved already gets the new end. Gives them as they were saved, each once.
    ///
    /// One call is approved for at most [`Approval::CALL_LASTS`].
    ///
    /// # Errors
    /// [`ApprovalsError`]; nothing was saved then, unless the state cannot tell.
    ///
    /// # Cancel safety
    /// They may be saved though the future was dropped, all or none.
    pub async fn grant(
        &self,
        approvals: impl IntoIterator<Item = Approval>,
        lasts: Option<Duration>,
    ) -> Result<Vec<Approval>, ApprovalsError> {
        Ok(self.replace(approvals, lasts).await?.granted)
    }

    /// Saves approvals as [`grant`](Self::grant) does, and gives also those that they replace.
    pub(crate) async fn replace(
        &self,
        approvals: impl IntoIterator<Item = Approval>,
        lasts: Option<Duration>,
    ) -> Result<Replaced, ApprovalsError> {
        let now = self.now();
        let mut granted: Vec<Approval> = approvals.into_iter().collect();
        for approval in &mut granted {
            approval.check().map_err(ApprovalsError::Useless)?;
            let lasts = match approval.scope {
                Scope::Call(_) => Some(lasts.map_or(Approval::CALL_LASTS, |lasts| {
                    lasts.min(Approval::CALL_LASTS)
                })),
                _ => lasts,
            };
            approval.created_ms = now;
            approval.expires_ms = lasts.map(|lasts| now.saturating_add(millis(lasts)));
        }
        // Of one that is given twice the last counts, and it does not replace itself: what it
        // replaced is put back when it is taken back.
        let mut ids = HashSet::new();
        granted.reverse();
        granted.retain(|approval| ids.insert(approval.id.clone()));
        granted.reverse();
        let before = Mutex::default();
        self.change(|kept| {
            let mut replaced = Vec::new();
            for approval in &granted {
                replaced.extend(kept.extract_if(.., |one| one.id == approval.id));
                kept.push(approval.clone());
            }
            // Where somebody else was faster the last attempt counts.
            *before.lock().unwrap_or_else(PoisonError::into_inner) = replaced;
            !granted.is_empty()
        })
        .await?;
        let before = before.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Replaced { granted, before })
    }

    /// Takes back what was saved and puts back what that replaced, but leaves alone what was
    /// granted or revoked since.
    pub(crate) async fn put_back(&self, replaced: &Replaced) -> Result<(), ApprovalsError> {
        let Replaced { granted, before } = replaced;
        let undo = |kept: &mut Vec<Approval>| {
            let ours: Vec<_> = kept.extract_if(.., |one| granted.contains(one)).collect();
            let again = before
                .iter()
                .filter(|old| ours.iter().any(|one| one.id == old.id));
            kept.extend(again.cloned());
            !ours.is_empty()
        };
        self.change(undo).await.map(|_| ())
    }

    /// Takes an approval back; false if there is none of that id.
    ///
    /// # Errors
    /// [`ApprovalsError`]; it may still hold then.
    ///
    /// # Cancel safety
    /// It may be revoked though the future was dropped.
    pub async fn revoke(&self, id: &str) -> Result<bool, ApprovalsError> {
        self.change(|kept| {
            let before = kept.len();
            kept.retain(|one| one.id != id);
            kept.len() < before
        })
        .await
    }

    /// Uses an approval of one call up. True for exactly one of all who try.
    pub(crate) async fn use_up(&self, approval: &Approval) -> Result<bool, ApprovalsError> {
        if let Some(state) = &self.0.state {
            let created = approval.created_ms;
            let key = format!("{}/{}/{created}", self.0.key, approval.id);
            let end = approval.expires_ms.unwrap_or(u64::MAX);
            let until = UNIX_EPOCH
                .checked_add(Duration::from_millis(end))
                .unwrap_or_else(|| (self.0.clock)() + Approval::CALL_LASTS);
            if !state.claim(&key, until).await? {
                return Ok(false);
            }
        }
        self.revoke(&approval.id).await
    }

    /// Reads what others have changed.
    pub(crate) async fn refresh(&self) -> Result<(), ApprovalsError> {
        let Some(state) = &self.0.state else {
            return Ok(());
        };
        let known = self.seen();
        let read = state.read(&self.0.key, known.version.as_ref()).await?;
        let (kept, version) = match read {
            StateReading::Unchanged => return Ok(()),
            StateReading::Absent => (Vec::new(), None),
            StateReading::Value(text, version) => {
                let document: Document = document(&text)?;
                (document.approvals, Some(version))
            }
        };
        self.see(kept, version);
        Ok(())
    }

    /// What was read or written last.
    pub(crate) fn current(&self) -> Arc<Approved> {
        self.seen().approved
    }

    pub(crate) fn now(&self) -> u64 {
        let since = (self.0.clock)().duration_since(UNIX_EPOCH);
        since.map_or(0, millis)
    }

    /// Changes what is kept, as often as somebody else is faster. False if there is nothing to
    /// change.
    async fn change(
        &self,
        change: impl Fn(&mut Vec<Approval>) -> bool,
    ) -> Result<bool, ApprovalsError> {
        let now = self.now();
        let apply = |mut kept: Vec<Approval>| {
            kept.retain(|one| !one.is_over(now));
            let changed = change(&mut kept);
            match kept.len() > Self::MOST {
                true => Err(ApprovalsError::Full),
                false => Ok((kept, changed)),
            }
        };
        let Some(state) = &self.0.state else {
            let mut seen = self.0.seen.write().unwrap_or_else(PoisonError::into_inner);
            let (kept, changed) = apply(seen.approved.all().cloned().collect())?;
            if changed {
                seen.approved = Arc::new(Approved::new(kept));
            }
            return Ok(changed);
        };
        for _ in 0..MOST_ATTEMPTS {
            self.refresh().await?;
            let seen = self.seen();
            let (kept, changed) = apply(seen.approved.all().cloned().collect())?;
            if !changed {
                return Ok(false);
            }
            let document = Document {
                version: VERSION,
                approvals: kept,
            };
            let text = serde_json::to_vec(&document).map_err(ApprovalsError::Form)?;
            let written = state
                .write(&self.0.key, seen.version.as_ref(), &text)
                .await?;
            if let Some(version) = written {
                self.see(document.approvals, Some(version));
                return Ok(true);
            }
        }
        Err(ApprovalsError::Contended)
    }

    fn see(&self, kept: Vec<Approval>, version: Option<StateVersion>) {
        let approved = Arc::new(Approved::new(kept));
        let mut seen = self.0.seen.write().unwrap_or_else(PoisonError::into_inner);
        // What was overtaken by a later reading is read anew before the next decision.
        seen.version = version;
        seen.approved = approved;
    }

    fn seen(&self) -> Seen {
        let seen = self.0.seen.read().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}

impl Default for Approvals {
    fn default() -> Self {
        Self::in_memory()
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals")
            .field("key", &self.0.key)
            .field("shared", &self.0.state.is_some())
            .finish_non_exhaustive()
    }
}
