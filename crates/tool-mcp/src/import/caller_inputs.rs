//! Questions of servers, passed on to the client that made the call.

use std::fmt;

use serde_json::Value;
use tool_core::{Action, BoxFuture, Decision, Facts, Permission, Request};

use super::inputs::{InputAnswer, Inputs, WantedInput};
use crate::serve::{Ask, AskKind, CallingClient};

/// The action that rules name.
const ACTION: &str = "question";

/// Passes on what servers ask to the client whose call it is, as a gateway does that serves what it
/// imports.
///
/// Nothing is passed on unless policy **allows** it: the action is `question` and the resource
/// `server/kind`, with `form`, `page`, `sample` or `roots` for the kind. Where no rule speaks of it,
/// or one says to ask, the server is told that nobody answers, so that nothing is asked of anybody
/// who did not say so beforehand.
///
/// A client in whose name nothing is running cannot be asked, and neither can one that did not say
/// that it can answer. Forms and pages are shown with the configured name of the server; a page also
/// with its whole host, and only where it is `https`, or `http` on this machine, without a user's
/// name in it.
///
/// A client without a handshake is asked by the result of its call and calls again with the answer.
/// What the server had begun is kept meanwhile and goes on with the answer; it is not begun anew.
#[derive(Clone)]
pub struct CallerInputs {
    permission: Permission,
}

impl CallerInputs {
    /// Passes on what a policy allows.
    #[must_use]
    pub fn new(permission: Permission) -> Self {
        Self { permission }
    }

    async fn allowed(&self, server: &str, kind: AskKind, facts: &Facts) -> Result<(), String> {
        let resource = resource(server, kind);
        let request = Request::new(Action::new(ACTION), [resource.as_str()], facts);
        let ruling = self.permission.decide(&request).await;
        match ruling.decision {
            Decision::Allow => Ok(()),
            Decision::Ask | Decision::Deny => Err(format!(
                "no rule allows {ACTION} {resource}: {}",
                ruling.because
            )),
        }
    }
}

impl Inputs for CallerInputs {
    fn kinds<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Vec<AskKind>> {
        Box::pin(async move {
            let calling = CallingClient::current();
            let nobody = Facts::new();
            let facts = calling.as_ref().map_or(&nobody, CallingClient::facts);
            let mut kinds = Vec::new();
            for kind in AskKind::ALL {
                let can = calling.as_ref().is_none_or(|calling| calling.can(kind));
                if can && self.allowed(server, kind, facts).await.is_ok() {
                    kinds.push(kind);
                }
            }
            kinds
        })
    }

    fn lacked<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Vec<AskKind>> {
        Box::pin(async move {
            let mut lacked = Vec::new();
            let Some(calling) = CallingClient::current() else {
                return lacked;
            };
            for kind in AskKind::ALL {
                let allowed = self.allowed(server, kind, calling.facts());
                if !calling.can(kind) && allowed.await.is_ok() {
                    lacked.push(kind);
                }
            }
            lacked
        })
    }

    fn passed_on<'a>(&'a self, wanted: &'a WantedInput) -> BoxFuture<'a, Option<Ask>> {
        Box::pin(async move {
            let calling = CallingClient::current()?;
            let kind = wanted.ask.kind();
            let allowed = self.allowed(&wanted.server, kind, calling.facts());
            if !calling.can(kind) || allowed.await.is_err() {
                return None;
            }
            labelled(&wanted.server, wanted.ask.clone()).ok()
        })
    }

    fn provide<'a>(
        &'a self,
        wanted: &'a WantedInput,
    ) -> BoxFuture<'a, Result<InputAnswer, String>> {
        Box::pin(async move {
            let calling = CallingClient::current();
            let calling = calling.ok_or("no client's call is being served")?;
            let kind = wanted.ask.kind();
            self.allowed(&wanted.server, kind, calling.facts()).await?;
            let ask = labelled(&wanted.server, wanted.ask.clone())?;
            calling.shown_page(&ask);
            let answer = calling.pass_on(&wanted.key, ask).await;
            let answer = answer.map_err(|error| error.to_string())?;
            Ok(InputAnswer::result(answer))
        })
    }
}

impl fmt::Debug for CallerInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallerInputs(..)")
    }
}

fn resource(server: &str, kind: AskKind) -> String {
    format!("{server}/{}", kind.word())
}

/// The question with who asks in it, and for a page where it leads and whose it is.
fn labelled(server: &str, ask: Ask) -> Result<Ask, String> {
    let text = |member: &str| ask.params().get(member).and_then(Value::as_str);
    let message = text("message").unwrap_or_default();
    let message = match ask.kind() {
        AskKind::Form => format!("{server} asks: {message}"),
        AskKind::Page => {
            let host = text("url").and_then(host);
            let host = host.ok_or("the page is none that is opened for a server")?;
            format!("{server} asks to open a page on {host}: {message}")
        }
        AskKind::Sample | AskKind::Roots => return Ok(ask),
    };
    Ok(ask.saying(message).shown_of(server))
}

/// The whole host of a page, with its port; nothing for one that is not opened for a server: of
/// another scheme, unencrypted and not on this machine, with a user's name, or with letters that
/// look like others.
fn host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if authority.is_empty() || !authority.chars().all(plain) {
        return None;
    }
    let name = match authority.strip_prefix('[') {
        Some(six) => six.split_once(']')?.0,
        None => authority.split(':').next()?,
    };
    let here = matches!(name, "localhost" | "127.0.0.1" | "::1");
    match scheme.to_ascii_lowercase().as_str() {
        "https" => Some(authority),
        "http" if here => Some(authority),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn the_host_of_a_page_is_shown_whole_or_the_page_is_not_opened() {
        for (url, expected) in [
            ("https://login.example.com/a?b", Some("login.example.com")),
            (
                "https://example.com.evil.test",
                Some("example.com.evil.test"),
            ),
            ("HTTPS://example.com:8443#x", Some("example.com:8443")),
            ("http://127.0.0.1:9/x", Some("127.0.0.1:9")),
            ("http://[::1]:9/x", Some("[::1]:9")),
            ("http://example.com/x", None),
            ("https://example.com@evil.test/", None),
            ("https://example.com\\@evil.test/", None),
            ("https://ex\u{e4}mple.com/", None),
            ("https:///x", None),
            ("javascript:alert(1)", None),
            ("file:///etc/passwd", None),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }
}
