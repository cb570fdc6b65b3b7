//! What imported servers have beside tools.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::task::JoinSet;
use tool_core::BoxFuture;

use super::call_error::CallError;
use super::fetches::{Fetched, Fetches};
use super::lacking;
use super::offer_names::{fits, named};
use super::owners::{Owner, Owners};
use super::slot::Claim;
use super::upstream::Upstream;
use crate::offerings::{
    Completion, Offer, OfferError, OfferErrorKind, OfferEventSender, OfferEvents, OfferKind,
    Offerings, Watching,
};
use crate::serve::LogLevel;
use crate::wire::RpcError;

/// What imported servers have beside tools.
///
/// Resources keep their URIs: where two servers list the same one, the first by name has it, also
/// while it is away. Prompts are joined with the name of their server as tools are.
pub(crate) struct Offered {
    upstreams: Vec<Arc<Upstream>>,
    events: OfferEventSender,
    fetches: Arc<Fetches>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    lists: HashMap<(String, OfferKind), Arc<Fetched>>,
    /// What each server listed the last time: the key of each offer and the server's own.
    listed: HashMap<(String, OfferKind), Vec<(String, String)>>,
    owners: HashMap<OfferKind, Owners>,
}

impl Offered {
    pub(crate) fn new(upstreams: Vec<Arc<Upstream>>, events: OfferEventSender) -> Self {
        Self {
            upstreams,
            events,
            fetches: Arc::default(),
            kept: Mutex::default(),
        }
    }

    async fn lists(&self, kind: OfferKind) -> Vec<Offer> {
        // Ahead of asking: whoever comes meanwhile has to be asked as well.
        let standing = self.standing();
        let mut fetching = JoinSet::new();
        let mut lists: HashMap<String, Vec<Value>> = HashMap::new();
        for upstream in &self.upstreams {
            if !upstream.has(capability(kind)) {
                continue;
            }
            if let Some(entries) = self.kept_list(upstream, kind) {
                lists.insert(upstream.name.clone(), entries);
                continue;
            }
            let (fetches, upstream) = (Arc::clone(&self.fetches), Arc::clone(upstream));
            fetching.spawn(async move {
                let fetched = fetches.list(&upstream, kind).await;
                (upstream, fetched)
            });
        }
        while let Some(fetched) = fetching.join_next().await {
            let Ok((upstream, fetched)) = fetched else {
                continue;
            };
            if let Some(listing) = &fetched.listing {
                lists.insert(upstream.name.clone(), listing.entries.clone());
                self.keep(&upstream, kind, fetched);
            }
        }
        let mut offers = Vec::new();
        let mut owners = Owners::of(standing);
        let mut kept = self.kept();
        for upstream in &self.upstreams {
            let server = (upstream.name.clone(), kind);
            if let Some(entries) = lists.remove(&upstream.name) {
                let mut listed = Vec::new();
                for (key, own, definition) in named(&upstream.name, kind, entries) {
                    listed.push((key.clone(), own.clone()));
                    if owners.add(upstream, &key, &own) {
                        offers.push(Offer::new(&*upstream.name, key, definition));
                    }
                }
                kept.listed.insert(server, listed);
            } else if upstream.has(capability(kind)) {
                // Nobody else has what is its own because it is away.
                for (key, own) in kept.listed.get(&server).into_iter().flatten() {
                    owners.add(upstream, key, own);
                }
            } else {
                kept.listed.remove(&server);
            }
        }
        kept.owners.insert(kind, owners);
        offers
    }

    fn standing(&self) -> Vec<u64> {
        let upstreams = self.upstreams.iter();
        upstreams.map(|upstream| upstream.standing()).collect()
    }

    fn kept_list(&self, upstream: &Upstream, kind: OfferKind) -> Option<Vec<Value>> {
        let kept = self.kept();
        let list = kept.lists.get(&(upstream.name.clone(), kind))?;
        let listing = list.listing.as_ref().filter(|_| list.is_fresh(upstream))?;
        Some(listing.entries.clone())
    }

    fn keep(&self, upstream: &Upstream, kind: OfferKind, fetched: Arc<Fetched>) {
        let key = (upstream.name.clone(), kind);
        if fetched.until.is_none() {
            self.kept().lists.remove(&key);
        } else {
            self.kept().lists.insert(key, fetched);
        }
    }

    /// Whose it is. Lists are asked for where nobody has asked for them since a server came or went.
    async fn owner(&self, kind: OfferKind, key: &str) -> Option<Owner> {
        let standing = self.standing();
        let find = |standing: Option<&[u64]>| {
            let kept = self.kept();
            kept.owners.get(&kind)?.owner(key, standing).cloned()
        };
        if let Some(owner) = find(Some(&standing)) {
            return Some(owner);
        }
        self.lists(kind).await;
        find(None)
    }

    /// Whose resource it is: listed, else of a template, else of the only server that may have any.
    async fn owner_of_resource(&self, uri: &str) -> Option<Owner> {
        if let Some(owner) = self.owner(OfferKind::Resource, uri).await {
            return Some(owner);
        }
        self.lists(OfferKind::Template).await;
        let template = {
            let kept = self.kept();
            let templates = kept.owners.get(&OfferKind::Template);
            let template = templates.and_then(|owners| owners.first(|key| fits(key, uri)));
            template.map(|owner| Arc::clone(&owner.upstream))
        };
        let upstream = template.or_else(|| {
            let mut having = self
                .upstreams
                .iter()
                .filter(|one| one.may_have("resources"));
            having.next().filter(|_| having.next().is_none()).cloned()
        })?;
        Some(Owner {
            upstream,
            own: uri.to_owned(),
        })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Offerings for Offered {
    fn kinds(&self) -> Vec<OfferKind> {
        let offered = |kind: &OfferKind| {
            let mut upstreams = self.upstreams.iter();
            upstreams.any(|upstream| upstream.has(capability(*kind)))
        };
        OfferKind::ALL.into_iter().filter(offered).collect()
    }

    fn list(&self, kind: OfferKind) -> BoxFuture<'_, Result<Vec<Offer>, OfferError>> {
        Box::pin(async move { Ok(self.lists(kind).await) })
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>> {
        Box::pin(async move {
            let owner = self.owner_of_resource(uri).await;
            let owner = owner.ok_or_else(|| not_found("resource"))?;
            let mut params = Map::new();
            params.insert("uri".to_owned(), owner.own.into());
            ask(&owner.upstream, "resources/read", params).await
        })
    }

    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>> {
        Box::pin(async move {
            let owner = self.owner(OfferKind::Prompt, name).await;
            let owner = owner.ok_or_else(|| not_found("prompt"))?;
            let mut params = Map::new();
            params.insert("name".to_owned(), owner.own.into());
            params.insert("arguments".to_owned(), arguments.into());
            ask(&owner.upstream, "prompts/get", params).await
        })
    }

    fn complete<'a>(
        &'a self,
        completion: &'a Completion,
    ) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>> {
        Box::pin(async move {
            let owner = match completion.kind {
                // A resource without places to fill is completed as its own template.
                OfferKind::Resource => self.owner_of_resource(&completion.key).await,
                kind => self.owner(kind, &completion.key).await,
            };
            let owner = owner.ok_or_else(|| not_found("prompt or template"))?;
            let (kind, member) = match completion.kind {
                OfferKind::Prompt => ("ref/prompt", "name"),
                OfferKind::Resource | OfferKind::Template => ("ref/resource", "uri"),
            };
            let mut reference = Map::new();
            reference.insert("type".to_owned(), kind.into());
            reference.insert(member.to_owned(), owner.own.into());
            let mut params = Map::new();
            params.insert("ref".to_owned(), reference.into());
            params.insert("argument".to_owned(), completion.argument.clone().into());
            if let Some(context) = &completion.context {
                params.insert("context".to_owned(), context.clone().into());
            }
            ask(&owner.upstream, "completion/complete", params).await
        })
    }

    fn watch<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Watching, OfferError>> {
        Box::pin(async move {
            let owner = self.owner_of_resource(uri).await;
            let owner = owner.ok_or_else(|| not_found("resource"))?;
            Ok(owner.upstream.tally.wishes.resource(owner.own).await)
        })
    }

    fn want_logs(&self, level: LogLevel) -> BoxFuture<'_, Watching> {
        Box::pin(async move {
            let mut reaching = JoinSet::new();
            for upstream in &self.upstreams {
                let wishes = Arc::clone(&upstream.tally.wishes);
                reaching.spawn(async move { wishes.level(level).await });
            }
            Watching::holding(reaching.join_all().await)
        })
    }

    fn events(&self) -> OfferEvents {
        self.events.subscribe()
    }
}

async fn ask(
    upstream: &Upstream,
    method: &'static str,
    params: Map<String, Value>,
) -> Result<Map<String, Value>, OfferError> {
    let mut is_stateless = false;
    let server = upstream.name.as_str();
    let mut claim = Claim::of(server, method, &params, &upstream.gates.tickets);
    let places = upstream.gates.enter(&Value::Null, claim.as_mut()).await;
    let (answered, _places) = match (upstream.line.get(), places) {
        (Ok(connection), Ok(places)) => {
            is_stateless = connection.is_stateless();
            let asked = connection.ask(method, params, None, claim.as_mut(), |_| {});
            (asked.await, Some(places))
        }
        (Ok(connection), Err(refused)) => {
            if let Some(claim) = &mut claim {
                connection.abandon(claim);
            }
            return Err(OfferError::new(OfferErrorKind::Unavailable, refused));
        }
        // Whatever there was to go on from has ended with the connection.
        (Err(error), _) => (Err(error), None),
    };
    if let Err(error) = &answered {
        lacking::tell(&upstream.line, error).await;
    }
    match answered {
        Ok(answer) => match answer.result {
            Value::Object(mut result) => {
                if let Some(rounded) = answer.rounded {
                    let meta = result.entry("_meta").or_insert(Value::Null);
                    if !meta.is_object() {
                        *meta = Map::new().into();
                    }
                    if let Some(meta) = meta.as_object_mut() {
                        rounded.tell(meta);
                    }
                }
                Ok(result)
            }
            _ => Err(failed(server, CallError::Unreadable)),
        },
        // Each era has a code of its own for what does not exist.
        Err(CallError::Peer { code, .. })
            if is_stateless && method == "resources/read" && code == RpcError::PARAMS =>
        {
            Err(not_found("resource"))
        }
        Err(error) => Err(failed(server, error)),
    }
}

fn failed(server: &str, error: CallError) -> OfferError {
    let kind = match &error {
        CallError::Gone
        | CallError::NotSent
        | CallError::Away
        | CallError::Changed
        | CallError::Unfinished(_)
        | CallError::Status(_)
        | CallError::TooMany(_) => OfferErrorKind::Unavailable,
        #[cfg(feature = "oauth")]
        CallError::Login { .. } => OfferErrorKind::Unavailable,
        // What a server holds against how it was asked is nothing to whoever asked here.
        CallError::Peer { code, .. } if RpcError::RESERVED.contains(code) => {
            OfferErrorKind::Unusable
        }
        CallError::Peer { code, .. } => OfferErrorKind::Peer(*code),
        CallError::Idle(_) | CallError::Total(_) => OfferErrorKind::TimedOut,
        CallError::Refused { .. } | CallError::Rounds(_) => OfferErrorKind::Refused,
        CallError::TooLong { .. }
        | CallError::Unreadable
        | CallError::TooDeep(_)
        | CallError::ResultType(_) => OfferErrorKind::Unusable,
    };
    let message = match &error {
        CallError::Peer { message, .. } => format!("server {server} answered: {message}"),
        CallError::Away | CallError::NotSent => format!("server {server} is not available"),
        _ => format!("server {server} gave no usable answer"),
    };
    OfferError::new(kind, message).because(error)
}

fn not_found(what: &str) -> OfferError {
    let message = format!("no server here has this {what}");
    OfferError::new(OfferErrorKind::NotFound, message)
}

fn capability(kind: OfferKind) -> &'static str {
    match kind {
        OfferKind::Prompt => "prompts",
        OfferKind::Resource | OfferKind::Template => "resources",
    }
}
