//! A registry in the making.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, RwLock};
use std::time::{Duration, SystemTime};

use tool_core::{
    AfterHook, ArtifactStore, BeforeHook, Bound, Credentials, Event, EventSink, NoCredentials,
    OutputStore, Permission, Repairs, State,
};

use crate::contained::contained;
use crate::services::Services;
use crate::teardowns::Teardowns;
use crate::{ColumnCheck, MemoryState, Registry, RequestHook, SealKey};

/// How many calls of one batch run beside each other unless said otherwise.
const BATCH_CONCURRENCY: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// How long a policy or a hook ahead of a call may take unless said otherwise.
const GATE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a suspension can be decided unless said otherwise.
const SUSPENSION_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// A [`Registry`] in the making.
#[must_use]
pub struct RegistryBuilder {
    services: Services,
    state: Option<Arc<dyn State>>,
}

impl RegistryBuilder {
    pub(crate) fn new() -> Self {
        Self {
            state: None,
            services: Services {
                state: Arc::new(MemoryState::default()),
                permission: Permission::closed(),
                outputs: None,
                artifacts: None,
                placement: None,
                credentials: Arc::new(NoCredentials),
                before: Vec::new(),
                after: Vec::new(),
                requests: Vec::new(),
                events: None,
                told_calls: AtomicU64::new(0),
                bound: RwLock::new(Bound::DEFAULT),
                batch_concurrency: BATCH_CONCURRENCY,
                gate_timeout: GATE_TIMEOUT,
                seal_key: SealKey::random(),
                suspension_ttl: SUSPENSION_TTL,
                clock: Arc::new(SystemTime::now),
                column_check: ColumnCheck::default(),
                repairs: Repairs::ALL,
                injected_keys: Vec::new(),
                repair_notes: true,
                teardowns: Teardowns::default(),
            },
        }
    }

    /// Sets who decides what may run. Defaults to [`Permission::closed`], which denies every call
    /// of a tool that does not ask by itself.
    pub fn permission(mut self, permission: Permission) -> Self {
        self.services.permission = permission;
        self
    }

    /// Sets where long output is retained. Without a store, output is not bounded: a cut without
    /// the whole kept somewhere would be a loss.
    pub fn outputs(mut self, outputs: Arc<dyn OutputStore>) -> Self {
        self.services.outputs = Some(outputs);
        self
    }

    /// Sets where artifacts are redeemed. Without a store, a tool that wants artifacts is refused
    /// when it is registered.
    pub fn artifacts(mut self, artifacts: impl ArtifactStore + 'static) -> Self {
        self.services.artifacts = Some(Arc::new(artifacts));
        self
    }

    /// Keeps the text of results with more characters than that as artifacts, of the kind that the
    /// tool declares for its results or `tool-result/` and its name, and shows the model a ticket
    /// instead. A result that cannot be kept, and every one where there is no artifact store, is
    /// bounded as others are; a registry that is built without one warns of it. What was kept for a
    /// ticket that nobody will see, as its call was dropped or broke, is forgotten. Off by default.
    pub fn place_above(mut self, chars: NonZeroUsize) -> Self {
        self.services.placement = Some(chars);
        self
    }

    /// Sets who hands out credentials. Without one, a call of a tool that needs one is refused.
    pub fn credentials(mut self, credentials: impl Credentials + 'static) -> Self {
        self.services.credentials = Arc::new(credentials);
        self
    }

    /// Adds a hook on requests, after those that were added earlier. It sees the requests that are
    /// taken with [`Registry::request`].
    pub fn on_request(mut self, hook: impl RequestHook + 'static) -> Self {
        self.services.requests.push(Arc::new(hook));
        self
    }

    /// Adds a hook that runs before every call, after those that were added earlier.
    pub fn before(mut self, hook: impl BeforeHook + 'static) -> Self {
        self.services.before.push(Arc::new(hook));
        self
    }

    /// Adds a hook that runs after every call that reached execution, ahead of those that were
    /// added earlier.
    pub fn after(mut self, hook: impl AfterHook + 'static) -> Self {
        self.services.after.insert(0, Arc::new(hook));
        self
    }

    /// Adds somebody who is told what happens to calls, after those that were added earlier. Nobody
    /// by default.
    pub fn events(mut self, events: impl EventSink + 'static) -> Self {
        let events: Arc<dyn EventSink> = Arc::new(events);
        self.services.events = Some(match self.services.events.take() {
            None => events,
            Some(earlier) => Arc::new(move |event: &Event<'_>| {
                // One that panics keeps nothing from the next.
                contained(|| earlier.emit(event));
                events.emit(event);
            }),
        });
        self
    }

    /// Sets the bound on model-facing text of tools that have none of their own. Defaults to
    /// [`Bound::DEFAULT`].
    pub fn bound(self, bound: Bound) -> Self {
        self.services.set_bound(bound);
        self
    }

    /// Sets how long a policy may take to decide, or a hook that runs before calls; one that takes
    /// longer denies. Defaults to 30 seconds. A policy or a hook that waits at all must be awaited
    /// inside a tokio runtime with time enabled.
    pub fn gate_timeout(mut self, timeout: Duration) -> Self {
        self.services.gate_timeout = timeout;
        self
    }

    /// Sets where it is remembered which suspensions were decided. Defaults to a [`MemoryState`] by
    /// the registry's clock; processes that resume each other's suspensions need a state that they
    /// share.
    pub fn state(mut self, state: impl State + 'static) -> Self {
        self.state = Some(Arc::new(state));
        self
    }

    /// Sets the key that seals suspensions. Defaults to a fresh one; processes that resume each
    /// other's suspensions need the same.
    pub fn seal_key(mut self, key: SealKey) -> Self {
        self.services.seal_key = Some(key);
        self
    }

    /// Sets how long a suspension can be decided. Defaults to 24 hours; zero lets none be decided,
    /// and what would last beyond the year 9999 lasts until then.
    pub fn suspension_ttl(mut self, ttl: Duration) -> Self {
        self.services.suspension_ttl = ttl;
        self
    }

    /// Sets the clock by which suspensions expire. Defaults to the system's.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.services.clock = Arc::new(clock);
        self
    }

    /// Sets what is done about columns that hold something else than a tool declares. Off by
    /// default.
    pub fn column_check(mut self, check: ColumnCheck) -> Self {
        self.services.column_check = check;
        self
    }

    /// Sets by which rules arguments are put right that do not fit as they came, for tools that
    /// have no rules of their own. Defaults to [`Repairs::ALL`].
    ///
    /// Nothing is put right where more than one reading is left, a text that is cut off is never
    /// completed, and a string stays as it is wherever the schema takes one. A call with more than
    /// 1,000 places to put right is refused.
    pub fn repairs(mut self, repairs: Repairs) -> Self {
        self.services.repairs = repairs;
        self
    }

    /// Names keys that a client adds to the arguments beside what the model sent. They are removed
    /// where a closed schema does not declare them. None by default.
    pub fn injected_keys<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.services.injected_keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// Sets whether a model is told, in a block of its own behind the result, how to send what had
    /// to be put right. On by default. Settlements and events name repairs either way.
    pub fn repair_notes(mut self, told: bool) -> Self {
        self.services.repair_notes = told;
        self
    }

    /// Sets how many calls of one batch run beside each other. Defaults to 8.
    pub fn batch_concurrency(mut self, calls: NonZeroUsize) -> Self {
        self.services.batch_concurrency = calls;
        self
    }

    /// The registry, still without tools.
    #[must_use]
    pub fn build(self) -> Registry {
        let Self {
            mut services,
            state,
        } = self;
        services.state = state.unwrap_or_else(|| {
            let clock = Arc::clone(&services.clock);
            Arc::new(MemoryState::with_clock(move || clock()))
        });
        if services.placement.is_some() && services.artifacts.is_none() {
            tracing::warn!(
                "long results are to be placed and there is no artifact store: give the registry one"
            );
        }
        Registry::from_services(services)
    }
}

impl fmt::Debug for RegistryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegistryBuilder(..)")
    }
}
