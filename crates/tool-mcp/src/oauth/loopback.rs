//! Waits on this machine for a person to come back.

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tool_core::BoxFuture;

use super::authorizer::{Authorization, AuthorizationPage, Authorizer};

/// The longest request that is read.
const MOST_BYTES: usize = 16 * 1024;
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections that may be open at the same time.
const CONNECTIONS: usize = 32;
/// How long nobody is let in after one could not be.
const PAUSE: Duration = Duration::from_millis(100);
const PATH: &str = "/callback";

/// Waits on this machine for a person to come back, on a port that is free, and shows pages in a
/// way that the program gives. Nothing is opened.
///
/// It answers nobody but whoever brings the right `state`: others are told that nothing is here,
/// and the person is waited for all the same.
///
/// Source: RFC 8252, section 7.3.
#[derive(Clone)]
pub struct LoopbackAuthorizer {
    show: Arc<dyn Fn(&AuthorizationPage) + Send + Sync>,
}

struct Waiting {
    listener: TcpListener,
    address: String,
    redirect_uri: String,
    show: Arc<dyn Fn(&AuthorizationPage) + Send + Sync>,
}

impl LoopbackAuthorizer {
    /// Waits for people who were shown a page. They must be shown its whole address, or at least
    /// its host before it is opened.
    pub fn new(show: impl Fn(&AuthorizationPage) + Send + Sync + 'static) -> Self {
        Self {
            show: Arc::new(show),
        }
    }
}

impl fmt::Debug for LoopbackAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopbackAuthorizer").finish_non_exhaustive()
    }
}

impl Authorizer for LoopbackAuthorizer {
    fn begin<'a>(
        &'a self,
        _server: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Authorization>, String>> {
        Box::pin(async move {
            let failed = |error| format!("nobody can be waited for on this machine: {error}");
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
            let listener = listener.map_err(failed)?;
            let address = listener.local_addr().map_err(failed)?.to_string();
            Ok(Box::new(Waiting {
                redirect_uri: format!("http://{address}{PATH}"),
                address,
                listener,
                show: Arc::clone(&self.show),
            }) as Box<dyn Authorization>)
        })
    }
}

impl Authorization for Waiting {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn authorize<'a>(
        self: Box<Self>,
        page: &'a AuthorizationPage,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            (self.show)(page);
            let page = Arc::new(page.clone());
            let address: Arc<str> = self.address.as_str().into();
            let mut open = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = self.listener.accept(), if open.len() < CONNECTIONS => {
                        let Ok((stream, _)) = accepted else {
                            // What this machine is short of is not there again at once.
                            sleep(PAUSE).await;
                            continue;
                        };
                        let (page, address) = (Arc::clone(&page), Arc::clone(&address));
                        open.spawn(async move {
                            timeout(PATIENCE, serve(stream, &page, &address)).await.ok().flatten()
                        });
                    }
                    Some(ended) = open.join_next() => {
                        if let Ok(Some(query)) = ended {
                            return Ok(format!("{}?{query}", self.redirect_uri));
                        }
                    }
                }
            }
        })
    }
}

/// Serves one request. The query of it, where it is the answer that is waited for.
async fn serve(mut stream: TcpStream, page: &AuthorizationPage, address: &str) -> Option<String> {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut chunk).await.ok()?;
        request.extend_from_slice(chunk.get(..read)?);
        if read == 0 || request.len() > MOST_BYTES {
            return None;
        }
    }
    let query = std::str::from_utf8(&request)
        .ok()
        .and_then(|request| answer(request, page, address));
    let (status, text) = match &query {
        Some(_) => ("200 OK", "That is all. You can close this page.\n"),
        None => ("404 Not Found", "There is nothing here.\n"),
    };
    let reply = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    // The answer counts whether or not the browser still listens.
    let _ = stream.write_all(reply.as_bytes()).await;
    let _ = stream.shutdown().await;
    query
}

/// The query of a request, where it is an answer to the page.
fn answer(request: &str, page: &AuthorizationPage, address: &str) -> Option<String> {
    let mut lines = request.split("\r\n");
    let target = lines.next()?.strip_prefix("GET ")?.split(' ').next()?;
    let (path, query) = target.split_once('?')?;
    // A page of another name that leads here is somebody else's.
    let is_host = |line: &str| {
        line.split_once(':').is_some_and(|(name, value)| {
            name.eq_ignore_ascii_case("host") && value.trim() == address
        })
    };
    let fits = path == PATH && lines.any(is_host) && page.is_answered_by(query);
    fits.then(|| query.to_owned())
}
