//! What one client is served.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter,
    Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio_util::sync::{CancellationToken, DropGuard};
use tool_core::{Facts, SessionId};
use tool_registry::Changes;

use super::call;
use super::definition::advertise;
use super::server::Offer;
use super::serving::Serving;

/// What one client is served. Over HTTP, one is made for each session, and for each request of a
/// client that has none.
pub(crate) struct Handler {
    offer: Arc<Offer>,
    /// Of the connection itself, where it has one.
    session: Option<SessionId>,
    /// Given when the client is gone and its calls are to be dropped.
    gone: CancellationToken,
    serving: Serving,
    /// What is held while the session lasts.
    held: OnceLock<Box<dyn Any + Send + Sync>>,
    /// Taken by whoever tells the client of changes.
    changes: Mutex<Option<Changes>>,
    /// Ends that one with the client.
    telling: CancellationToken,
    _telling: DropGuard,
}

impl Handler {
    pub(crate) fn new(
        offer: Arc<Offer>,
        session: Option<SessionId>,
        gone: CancellationToken,
        serving: Serving,
    ) -> Self {
        let telling = CancellationToken::new();
        Self {
            session,
            gone,
            serving,
            held: OnceLock::new(),
            changes: Mutex::new(Some(offer.registry.changes())),
            _telling: telling.clone().drop_guard(),
            telling,
            offer,
        }
    }

    fn facts(&self, cx: &RequestContext<RoleServer>) -> Facts {
        let facts = self.offer.facts.clone();
        if facts.session_id().is_some() {
            return facts;
        }
        let Some(session) = self.session.clone().or_else(|| http_session(cx)) else {
            return facts;
        };
        let facts = facts.session(session);
        if let Some(hold) = &self.offer.hold {
            self.held.get_or_init(|| hold(&facts));
        }
        facts
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let mut config = ServerConfig::new(capabilities);
        config.server_info = self.offer.implementation.clone();
        config.instructions = self.offer.instructions.clone();
        config
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            let text = "no page begins at this cursor; the list has one page";
            return Err(ErrorData::invalid_params(text, None));
        }
        let snapshot = self.offer.registry.snapshot();
        let tools = snapshot.definitions().map(advertise).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    /// Asked over HTTP, to compare headers with the arguments that they repeat.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let snapshot = self.offer.registry.snapshot();
        snapshot
            .get(name)
            .map(|entry| advertise(entry.definition()))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _running = self.serving.run();
        let facts = self.facts(&cx);
        let snapshot = self.offer.registry.snapshot();
        let answered = tokio::select! {
            biased;
            // Leaving here drops the call. The library has nobody to give the answer to.
            () = cx.ct.cancelled() => None,
            () = self.gone.cancelled() => None,
            answer = call::settle(snapshot, &facts, params, &cx) => Some(answer),
        };
        match answered {
            Some(answer) => answer.map(Into::into),
            None => {
                // What the dropped call has left is nobody else's to run.
                self.offer.registry.clean_up().await;
                Err(cancelled())
            }
        }
    }

    /// A known method whose parameters do not fit arrives here, too.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _cx: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        Err(if matches!(method.as_str(), "tools/call" | "tools/list") {
            ErrorData::invalid_params(format!("the parameters of {method} do not fit"), None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
        })
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        let changes = self
            .changes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(mut changes) = changes else { return };
        let (peer, telling) = (cx.peer, self.telling.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = telling.cancelled() => return,
                    changed = changes.changed() => if !changed { return },
                }
                // A client that does not read holds up nobody but this task.
                tokio::select! {
                    () = telling.cancelled() => return,
                    told = peer.notify_tool_list_changed() => if told.is_err() { return },
                }
            }
        });
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.offer.registry.changes();
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                () = self.gone.cancelled() => return Ok(()),
                changed = changes.changed() => if !changed { return Ok(()) },
            }
            if subscription
                .sink()
                .notify_tool_list_changed()
                .await
                .is_err()
            {
                return Ok(());
            }
        }
    }
}

/// The session that the client's own HTTP request names. The library has checked that it exists.
#[cfg(feature = "http")]
fn http_session(cx: &RequestContext<RoleServer>) -> Option<SessionId> {
    let request = cx.extensions.get::<axum::http::request::Parts>()?;
    let id = request.headers.get("mcp-session-id")?.to_str().ok()?;
    Some(id.into())
}

#[cfg(not(feature = "http"))]
fn http_session(_cx: &RequestContext<RoleServer>) -> Option<SessionId> {
    None
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}
