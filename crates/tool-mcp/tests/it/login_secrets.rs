//! What of a login is seen where.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tool_core::{Call, Credential, Facts, State, StateReading};
use tool_mcp::{Logins, OAuthClient, ServersConfig, Upstreams};
use tool_registry::MemoryState;
use tracing::field::{Field, Visit};
use tracing::span;

use crate::support::login_site::LoginSite;
use crate::support::person::{Person, value};
use crate::support::registry::permissive;

/// Everything that anybody logs, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {field}={value:?}").expect("memory suffices");
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        let mut line = Line(attributes.metadata().target().to_owned());
        attributes.record(&mut line);
        self.keep(&line);
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        let mut line = Line(String::new());
        values.record(&mut line);
        self.keep(&line);
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line(event.metadata().target().to_owned());
        event.record(&mut line);
        self.keep(&line);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

impl Log {
    fn keep(&self, line: &Line) {
        let mut log = self.0.lock().expect("no panic");
        log.push_str(&line.0);
        log.push('\n');
    }

    fn text(&self) -> String {
        self.0.lock().expect("no panic").clone()
    }
}

#[test]
fn nothing_that_is_secret_is_logged_or_printed() {
    let log = Log::default();
    let guard = tracing::subscriber::set_default(log.clone());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("it starts");
    let mut printed = String::new();
    let (state, verifier) = runtime.block_on(async {
        let site = LoginSite::new().await;
        let state = Arc::new(MemoryState::default());
        let logins = Logins::new(Arc::clone(&state) as Arc<dyn State>);
        let client = OAuthClient::default()
            .id("by-hand")
            .secret(Credential::new("canary-client-secret"));
        let server = site.server().oauth(client);
        let person = Person::agreeing();
        let login = logins.login(&server, &person).await.expect("it agrees");
        let wrong = Person::answering(|url| {
            Ok(format!(
                "code=canary-wrong-code&state={}",
                value(url, "state")
            ))
        });
        let refused = logins
            .login(&server, &wrong)
            .await
            .expect_err("it is wrong");
        let registry = permissive().build();
        let config = ServersConfig::default().with(server.clone());
        let upstreams = Upstreams::builder(config)
            .logins(logins.clone())
            .connect(&registry);
        upstreams.settled().await;
        site.expire();
        let call = Call::new("srv__echo", json!({}));
        let settled = registry.snapshot().settle(call, &Facts::new()).await;
        assert_eq!(settled.text(), "echo");
        write!(
            printed,
            "{login:?} {refused} {refused:?} {logins:?} {server:?} {upstreams:?} {:?}",
            person.pages()
        )
        .expect("memory suffices");
        let verifier = site.forms().remove(0)["code_verifier"].clone();
        upstreams.shutdown().await;
        (state, verifier)
    });
    drop(guard);
    let log = log.text();
    // It listens at all.
    assert!(log.contains("tool_mcp"), "{log}");
    for text in [&log, &printed] {
        for secret in ["canary", verifier.as_str()] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None);
        }
    }
    // They are where they have to be, and nothing but what is needed.
    let kept = runtime.block_on(state.read("mcp/login/srv", None));
    let Ok(StateReading::Value(kept, _)) = kept else {
        panic!("there is a login");
    };
    let kept = String::from_utf8(kept).expect("it is text");
    assert!(kept.contains("canary-access-2") && kept.contains("canary-refresh-2"));
    for gone in [
        "canary-access-1",
        "canary-refresh-1",
        "canary-code",
        "canary-id-token",
        "canary-client-secret",
        &verifier,
    ] {
        assert!(!kept.contains(gone), "{gone}");
    }
}
