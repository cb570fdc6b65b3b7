//! A server that is imported and served on.

use std::sync::Arc;

use tool_core::{
    BoxFuture, Decision, NobodyToAsk, Permission, Policy, PolicyError, Request, Ruling,
};
use tool_mcp::{CallerInputs, Inputs, Limits, Server};

use super::imported::Imported;

/// Allows questions, or speaks of nothing at all.
struct Questions(Decision);

impl Policy for Questions {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        let decision = match request.action.as_str() {
            "question" => self.0,
            _ => Decision::Deny,
        };
        Box::pin(async move { Ok(Ruling::new(decision, "it is a test")) })
    }
}

/// Passes questions on to the client whose call it is, where that is decided so.
pub(crate) fn passed_on(questions: Decision) -> Arc<dyn Inputs> {
    let permission = Permission::new(Questions(questions), NobodyToAsk);
    Arc::new(CallerInputs::new(permission))
}

/// A server that is imported and served on.
pub(crate) struct Gateway {
    pub(crate) srv: Imported,
    pub(crate) server: Server,
}

impl Gateway {
    pub(crate) async fn of(mode: &str, questions: Decision) -> Self {
        let limits = Limits::default().retries(0);
        let srv = Imported::start(mode, limits, |builder| builder.inputs(passed_on(questions)));
        Self::serving(srv).await
    }

    /// Serves what is imported, once that is ready or has failed.
    pub(crate) async fn serving(srv: Imported) -> Self {
        srv.upstreams.settled().await;
        let server = Server::new(srv.registry.clone()).offerings(srv.upstreams.offerings());
        Self { srv, server }
    }

    /// How often the server was sent a call of a tool.
    pub(crate) fn calls(&self, tool: &str) -> usize {
        let transcript = self.srv.transcript();
        let calls = transcript.iter();
        calls
            .filter(|message| message["params"]["name"] == tool)
            .count()
    }
}
