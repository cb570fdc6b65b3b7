//! The requests of logins.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderValue;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url, redirect};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};
use serde::Deserialize;
use tool_core::BoxFuture;

use super::callback::code;
use super::rules::{Rules, shown};

/// The most bytes of an answer.
pub(crate) const MOST_BYTES: usize = 256 * 1024;
/// How long it may take until an answer is there in whole.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// Carries the requests of one login, each within the rules. It follows no redirect, uses no proxy,
/// as a proxy looks names up by itself, and remembers what went wrong last, since the library
/// makes text of it, and where the last document was, since the library does not say.
pub(crate) struct Web {
    client: Client,
    rules: Arc<Rules>,
    patience: Duration,
    trouble: Mutex<Option<Trouble>>,
    trail: Mutex<Trail>,
}

/// How the library got to a document.
#[derive(Default)]
struct Trail {
    /// Where it was asked for that was there last.
    document: Option<Url>,
    /// A redirect that was not gone after yet: where it was asked for first, and where it leads.
    led: Option<(Url, Url)>,
}

/// What went wrong with a request, for operators.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("{0}")]
    Unsafe(String),
    #[error("{0}")]
    Unreachable(String),
    /// An answer that is an error, with the code that it has.
    #[error("{shown} answered with status {status} and the error \"{code}\"")]
    Refused {
        shown: String,
        status: u16,
        code: String,
    },
}

/// Looks a name up. The port is of no meaning.
pub(crate) type Lookup =
    dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync;

/// Looks names up at the moment at which they are connected to, and hands on what the rules allow.
struct Checked {
    rules: Arc<Rules>,
    lookup: Arc<Lookup>,
}

/// A name that leads nowhere where anything may be sent.
#[derive(Debug)]
struct Forbidden;

impl Web {
    pub(crate) fn new(rules: Arc<Rules>) -> Result<Self, Trouble> {
        let lookup = |host: String| -> BoxFuture<'static, _> {
            Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) })
        };
        Self::with(rules, Arc::new(lookup), PATIENCE)
    }

    pub(crate) fn with(
        rules: Arc<Rules>,
        lookup: Arc<Lookup>,
        patience: Duration,
    ) -> Result<Self, Trouble> {
        let client = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .dns_resolver(Arc::new(Checked {
                rules: Arc::clone(&rules),
                lookup,
            }))
            .build()
            .map_err(|_| Trouble::Unreachable("the HTTP client does not start".to_owned()))?;
        Ok(Self {
            client,
            rules,
            patience,
            trouble: Mutex::default(),
            trail: Mutex::default(),
        })
    }

    /// Where the last document that was there had been asked for, before any redirect.
    pub(crate) fn document(&self) -> Option<Url> {
        self.trail().document.clone()
    }

    /// What went wrong since it was asked for the last time.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.remembered().take()
    }

    /// Sends a form. Whatever is answered but a success is trouble.
    pub(crate) async fn post(
        &self,
        url: &Url,
        form: &str,
        authorization: Option<HeaderValue>,
    ) -> Result<(), Trouble> {
        let unreadable = |_| Trouble::Unreachable(format!("{} cannot be asked", shown(url)));
        let mut request = http::Request::post(url.as_str())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.as_bytes().to_vec())
            .map_err(unreadable)?;
        if let Some(authorization) = authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization);
        }
        let status = self.fetch(request).await?.status();
        if status.is_success() {
            return Ok(());
        }
        let otherwise = || format!("{} answered with status {status}", shown(url));
        let trouble = self.trouble();
        Err(trouble.unwrap_or_else(|| Trouble::Unreachable(otherwise())))
    }

    async fn fetch(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::Response<Vec<u8>>, Trouble> {
        let url = request.uri().to_string();
        let url = Url::parse(&url)
            .map_err(|_| Trouble::Unsafe("an address that is named cannot be read".to_owned()))?;
        self.rules
            .check(&url)
            .map_err(|problem| Trouble::Unsafe(format!("the address {problem}")))?;
        let late = || {
            let seconds = self.patience.as_secs_f64();
            Trouble::Unreachable(format!("{} did not answer within {seconds} s", shown(&url)))
        };
        let answered = tokio::time::timeout(self.patience, self.exchange(&url, request)).await;
        answered.map_err(|_| late())?
    }

    async fn exchange(
        &self,
        url: &Url,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::Response<Vec<u8>>, Trouble> {
        let is_get = request.method() == http::Method::GET;
        let unreachable = |how: &str| Trouble::Unreachable(format!("{} {how}", shown(url)));
        let request = reqwest::Request::try_from(request)
            .map_err(|_| unreachable("cannot be asked what has to be asked"))?;
        let sent = self.client.execute(request).await;
        let mut response = sent.map_err(|error| match is_forbidden(&error) {
            true => Trouble::Unsafe(format!(
                "the address {} leads into a network that is nobody else's business",
                shown(url)
            )),
            false => unreachable("could not be reached"),
        })?;
        let mut answer = http::Response::new(Vec::new());
        *answer.status_mut() = response.status();
        *answer.headers_mut() = response.headers().clone();
        let broken = |_| unreachable("broke off in the middle of an answer");
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            if answer.body().len() + chunk.len() > MOST_BYTES {
                return Err(unreachable(&format!(
                    "answered with more than {MOST_BYTES} bytes"
                )));
            }
            answer.body_mut().extend_from_slice(&chunk);
        }
        let led = self.look_at_redirect(url, &answer);
        if is_get {
            self.follow(url, led, answer.status());
        } else if !answer.status().is_success() && led.is_none_or(|to| to.origin() == url.origin())
        {
            // Documents that are not there are looked for elsewhere; this is no document.
            self.remember(Trouble::Refused {
                shown: shown(url),
                status: answer.status().as_u16(),
                code: error_code(answer.body()),
            });
        }
        Ok(answer)
    }

    /// The library goes on within one origin, in a request of its own; what it does not follow is
    /// told here by its right name. Where it leads.
    fn look_at_redirect(&self, from: &Url, answer: &http::Response<Vec<u8>>) -> Option<Url> {
        if !answer.status().is_redirection() {
            return None;
        }
        let location = answer.headers().get(http::header::LOCATION);
        let location = location.and_then(|location| location.to_str().ok());
        let to = from.join(location?).ok()?;
        if to.origin() != from.origin() {
            self.remember(Trouble::Unsafe(format!(
                "the address {} leads on to another server, {}",
                shown(from),
                shown(&to)
            )));
        }
        Some(to)
    }

    /// Keeps the trail of a document.
    fn follow(&self, url: &Url, led: Option<Url>, status: http::StatusCode) {
        let mut trail = self.trail();
        let first = match trail.led.take() {
            Some((first, to)) if to == *url => first,
            _ => url.clone(),
        };
        if let Some(to) = led {
            trail.led = Some((first, to));
        } else if status.is_success() {
            trail.document = Some(first);
        }
    }

    fn trail(&self) -> std::sync::MutexGuard<'_, Trail> {
        self.trail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, trouble: Trouble) {
        *self.remembered() = Some(trouble);
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, Option<Trouble>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OAuthHttpClient for Web {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let answered = self.fetch(request.request).await;
            answered.map_err(|trouble| {
                self.remember(trouble.clone());
                Box::new(trouble) as OAuthHttpClientError
            })
        })
    }
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let (rules, lookup) = (Arc::clone(&self.rules), Arc::clone(&self.lookup));
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let mut found = lookup(host.clone()).await?;
            found.retain(|address| rules.allows(&host, address.ip()));
            if found.is_empty() {
                return Err(Forbidden.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no address of the host may be connected to")
    }
}

impl std::error::Error for Forbidden {}

fn is_forbidden(error: &reqwest::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<Forbidden>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The code of an error.
///
/// Source: RFC 6749, section 5.2; RFC 7591, section 3.2.2.
fn error_code(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Body {
        error: String,
    }
    let body: Option<Body> = serde_json::from_slice(body).ok();
    code(&body.map(|body| body.error).unwrap_or_default())
}

#[cfg(test)]
mod tests;
