//! Stopping a caller that makes the same failing call over and over.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tool_core::{
    Action, BoxFuture, Capability, Decision, Digest, Event, EventKind, EventSink, Facts, Outcome,
    Policy, PolicyError, RefusalKind, Request, Ruling, canonical_json,
};

/// Callers that are remembered; the one whose last failure is longest ago is forgotten first.
const MOST_CALLERS: usize = 1_024;
/// Failing calls that are remembered of one caller.
const MOST_CALLS: usize = 256;

const NANOS: u128 = Duration::from_secs(1).as_nanos();

/// Denies a call that its caller has made so many times with the same arguments, and that failed
/// each time: a model that does not see that it goes in circles is told so.
///
/// It is two things at once, of which clones are the same: receives [events](EventSink), to see how
/// calls end, and stands [ahead of a policy](Self::ahead_of), to deny. What counts is a failure of
/// the tool, a defect, a timeout, or arguments that do not fit. Any call of the caller that
/// completes begins its counts anew, as it may have changed what made the others fail. A call that
/// is denied can be made once more when it has rested, for which there is a [time](Self::rest).
///
/// Callers are told apart by session, agent and identity. Only digests are kept.
///
/// ```
/// use std::num::NonZeroU32;
/// use tool_core::{ClosedPolicy, NobodyToAsk, Permission};
/// use tool_registry::{FailingCalls, Registry};
///
/// let failing = FailingCalls::new(NonZeroU32::new(5).unwrap_or(NonZeroU32::MIN));
/// let registry = Registry::builder()
///     .permission(Permission::new(failing.ahead_of(ClosedPolicy), NobodyToAsk))
///     .events(failing)
///     .build();
/// # let _ = registry;
/// ```
#[derive(Clone)]
pub struct FailingCalls(Arc<Watched>);

struct Watched {
    most: NonZeroU32,
    rest: Duration,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// What calls that are running are, by their numbers.
    running: HashMap<u64, Digest>,
    callers: HashMap<Digest, Caller>,
}

/// The calls of one caller that failed since one completed.
struct Caller {
    failed: HashMap<Digest, Failed>,
    last: Instant,
}

#[derive(Clone, Copy)]
struct Failed {
    times: u32,
    last: Instant,
}

/// A policy with the denial ahead of it.
struct Ahead<P> {
    failing: FailingCalls,
    policy: P,
}

impl FailingCalls {
    /// Denies a call that failed so many times. It may be made again after 60 s, unless
    /// [said](Self::rest) otherwise.
    #[must_use]
    pub fn new(most: NonZeroU32) -> Self {
        Self(Arc::new(Watched {
            most,
            rest: Duration::from_secs(60),
            seen: Mutex::default(),
        }))
    }

    /// Sets after how long without a failure a call that is denied may be made once more. Zero denies
    /// nothing. What was seen so far is forgotten.
    #[must_use]
    pub fn rest(self, rest: Duration) -> Self {
        Self(Arc::new(Watched {
            most: self.0.most,
            rest,
            seen: Mutex::default(),
        }))
    }

    /// A policy that denies such calls, and leaves all others to another policy.
    pub fn ahead_of(&self, policy: impl Policy + 'static) -> impl Policy + 'static {
        Ahead {
            failing: self.clone(),
            policy,
        }
    }

    /// The denial of a call, if it is denied.
    fn denial(&self, request: &Request<'_>) -> Option<Ruling> {
        if request.action != Action::CALL {
            return None;
        }
        // As long as no call of anybody failed, nobody has to be told from anybody else.
        if self.seen().callers.is_empty() {
            return None;
        }
        let caller = caller(request.facts);
        // Most callers have no call that failed, and their arguments need no look.
        if !self.seen().callers.contains_key(&caller) {
            return None;
        }
        // Nobody waits for long arguments of others.
        let call = call(request.definition?, request.arguments()?);
        let failed = *self.seen().callers.get(&caller)?.failed.get(&call)?;
        let rests = failed.last.elapsed();
        if failed.times < self.0.most.get() || rests >= self.0.rest {
            return None;
        }
        // Never less than it takes: whoever waits that long is not denied again.
        let wait = (self.0.rest - rests).as_nanos().div_ceil(NANOS);
        let times = failed.times;
        let reason = format!(
            "this call failed {times} times with the same arguments; change them, do something \
             else first, or make it again in {wait} s"
        );
        let because = format!("the same call of this caller failed {times} times");
        Some(Ruling::new(Decision::Deny, because).reason(Some(reason)))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for FailingCalls {
    fn emit(&self, event: &Event<'_>) {
        let Some(number) = event.number else { return };
        match &event.kind {
            EventKind::Received {
                definition,
                arguments: Some(arguments),
                ..
            } => {
                let call = call(definition, arguments);
                self.seen().running.insert(number, call);
            }
            EventKind::Settled(settlement) => {
                let mut seen = self.seen();
                let call = seen.running.remove(&number);
                let failed = match &settlement.outcome {
                    Outcome::Completed => {
                        if !seen.callers.is_empty() {
                            seen.callers.remove(&caller(event.facts));
                        }
                        return;
                    }
                    Outcome::Failed(_) | Outcome::TimedOut { .. } | Outcome::Defect(_) => true,
                    Outcome::Refused(refusal) => refusal.kind() == RefusalKind::InvalidArguments,
                    _ => false,
                };
                if let Some(call) = call.filter(|_| failed) {
                    seen.count(caller(event.facts), call);
                }
            }
            EventKind::Dropped => {
                self.seen().running.remove(&number);
            }
            _ => {}
        }
    }
}

impl Seen {
    fn count(&mut self, caller: Digest, call: Digest) {
        let now = Instant::now();
        if !self.callers.contains_key(&caller) && self.callers.len() >= MOST_CALLERS {
            let oldest = self.callers.iter().min_by_key(|(_, caller)| caller.last);
            if let Some(oldest) = oldest.map(|(digest, _)| *digest) {
                self.callers.remove(&oldest);
            }
        }
        let caller = self.callers.entry(caller).or_insert_with(|| Caller {
            failed: HashMap::new(),
            last: now,
        });
        caller.last = now;
        if !caller.failed.contains_key(&call) && caller.failed.len() >= MOST_CALLS {
            let oldest = caller.failed.iter().min_by_key(|(_, failed)| failed.last);
            if let Some(oldest) = oldest.map(|(digest, _)| *digest) {
                caller.failed.remove(&oldest);
            }
        }
        let failed = caller.failed.entry(call).or_insert(Failed {
            times: 0,
            last: now,
        });
        failed.times = failed.times.saturating_add(1);
        failed.last = now;
    }
}

impl<P: Policy> Policy for Ahead<P> {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        match self.failing.denial(request) {
            Some(denial) => Box::pin(async move { Ok(denial) }),
            None => self.policy.decide(request),
        }
    }

    fn decide_at_once(&self, request: &Request<'_>) -> Option<Result<Ruling, PolicyError>> {
        match self.failing.denial(request) {
            Some(denial) => Some(Ok(denial)),
            None => self.policy.decide_at_once(request),
        }
    }

    fn governs(&self, capability: &Capability) -> bool {
        self.policy.governs(capability)
    }
}

fn caller(facts: &Facts) -> Digest {
    let identity = facts.identification();
    let parts = [
        facts.session_id().map(tool_core::SessionId::as_str),
        facts.agent_id().map(tool_core::AgentId::as_str),
        identity.and_then(|identity| identity.principal.as_deref()),
        identity.and_then(|identity| identity.tenant.as_deref()),
    ];
    // An absent part is not an empty one.
    let [a, b, c, d] = parts.map(|part| part.map_or(["-", ""], |part| ["+", part]));
    Digest::of_parts([a, b, c, d].as_flattened())
}

fn call(definition: &Digest, arguments: &serde_json::Value) -> Digest {
    Digest::of_parts(&[&definition.hex(), &canonical_json(arguments)])
}

impl fmt::Debug for FailingCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailingCalls")
            .field("most", &self.0.most)
            .field("rest", &self.0.rest)
            .finish_non_exhaustive()
    }
}
