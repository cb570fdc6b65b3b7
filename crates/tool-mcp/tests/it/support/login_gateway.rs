//! A process whose servers want a login.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::json;
use tool_core::{Call, Facts, Outcome, Settlement, State};
use tool_mcp::{Limits, Logins, ServerConfig, ServersConfig, UpstreamState, Upstreams};
use tool_registry::{MemoryState, Registry};

use super::eventually;
use super::login_site::LoginSite;
use super::person::Person;
use super::registry::permissive;

/// A process with servers.
pub(crate) struct Gateway {
    pub(crate) registry: Registry,
    pub(crate) upstreams: Upstreams,
}

impl Gateway {
    pub(crate) async fn start(
        servers: impl IntoIterator<Item = ServerConfig>,
        logins: &Logins,
    ) -> Self {
        let config = servers
            .into_iter()
            .fold(ServersConfig::default(), ServersConfig::with);
        let registry = permissive().build();
        let upstreams = Upstreams::builder(config)
            .limits(Limits::default().retries(0))
            .logins(logins.clone())
            .connect(&registry);
        upstreams.settled().await;
        Self {
            registry,
            upstreams,
        }
    }

    pub(crate) async fn call(&self, tool: &str) -> Settlement {
        let call = Call::new(format!("srv__{tool}"), json!({}));
        self.registry.snapshot().settle(call, &Facts::new()).await
    }

    pub(crate) fn state(&self) -> UpstreamState {
        let statuses = self.upstreams.statuses();
        let status = statuses.into_iter().find(|status| status.name == "srv");
        status.expect("it is configured").state
    }

    pub(crate) fn reason(&self) -> String {
        match self.state() {
            UpstreamState::Locked { reason } => reason,
            other => panic!("it is {}", other.as_str()),
        }
    }

    /// A call is refused, with the way out, and the server is locked from then on. Its reason.
    pub(crate) async fn is_locked_by_a_call(&self) -> String {
        let refused = self.call("echo").await;
        assert!(matches!(refused.outcome, Outcome::Failed(_)));
        let text = refused.text();
        assert!(text.contains("has to log in"), "{text}");
        eventually("the server is locked", || {
            matches!(self.state(), UpstreamState::Locked { .. })
        })
        .await;
        self.reason()
    }

    pub(crate) async fn becomes_ready(&self) {
        eventually("the server is ready", || {
            matches!(self.state(), UpstreamState::Ready { .. })
        })
        .await;
    }
}

/// A clock that the test sets, in seconds.
#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<AtomicU64>);

impl Clock {
    pub(crate) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    pub(crate) fn logins<S: State + 'static>(&self, state: &Arc<S>) -> Logins {
        let clock = self.clone();
        let state = Arc::clone(state) as Arc<dyn State>;
        Logins::new(state).clock(move || {
            SystemTime::UNIX_EPOCH + Duration::from_secs(clock.0.load(Ordering::SeqCst))
        })
    }
}

pub(crate) fn state() -> Arc<MemoryState> {
    Arc::new(MemoryState::default())
}

pub(crate) async fn log_in(logins: &Logins, site: &LoginSite) {
    let person = Person::agreeing();
    logins
        .login(&site.server(), &person)
        .await
        .expect("it agrees");
}
