//! What tells a server who calls.

#[cfg(feature = "oauth")]
use std::sync::Arc;

#[cfg(feature = "http-client")]
use reqwest::{Response, header::HeaderMap};

#[cfg(feature = "http-client")]
use super::call_error::CallError;
#[cfg(feature = "oauth")]
use crate::oauth::{Challenge, Held, Login, Next};

/// What tells a server who calls, where that is not in its configuration. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Caller {
    #[cfg(feature = "oauth")]
    pub(crate) login: Option<Arc<Login>>,
}

/// What one request was sent with.
#[cfg(feature = "http-client")]
#[derive(Default)]
pub(crate) struct Shown {
    #[cfg(feature = "oauth")]
    held: Option<Held>,
}

#[cfg(feature = "http-client")]
impl Caller {
    /// Whether a request may have to be sent again.
    pub(crate) fn may_repeat(&self) -> bool {
        #[cfg(feature = "oauth")]
        return self.login.is_some();
        #[cfg(not(feature = "oauth"))]
        false
    }

    /// Puts into the headers of a request who calls.
    #[cfg_attr(
        not(feature = "oauth"),
        expect(clippy::unused_async, reason = "only a login is waited for")
    )]
    pub(crate) async fn show(&self, _headers: &mut HeaderMap) -> Result<Shown, CallError> {
        #[cfg(feature = "oauth")]
        if let Some(login) = &self.login {
            let held = login
                .token()
                .await
                .map_err(|(reason, lack)| CallError::Login { reason, lack })?;
            if let Some(header) = held.as_ref().and_then(Held::header) {
                _headers.insert(reqwest::header::AUTHORIZATION, header);
            }
            return Ok(Shown { held });
        }
        Ok(Shown::default())
    }

    /// What becomes of a request that got no success, after so many before it: nothing where that
    /// has to do with something else; else whether it is to be sent again. In a session that works
    /// a person may be asked.
    #[cfg_attr(
        not(feature = "oauth"),
        expect(clippy::unused_async, reason = "only a login is waited for")
    )]
    pub(crate) async fn refused(
        &self,
        _shown: &Shown,
        _response: &Response,
        _round: u32,
        _in_session: bool,
    ) -> Option<Result<(), CallError>> {
        #[cfg(feature = "oauth")]
        if let Some(login) = &self.login {
            let url = _response.url();
            let challenge = Challenge::of(_response.status(), _response.headers(), url)?;
            let next = login.refused(_shown.held.as_ref(), challenge, _round, _in_session);
            return Some(match next.await {
                Next::Again => Ok(()),
                Next::Over { reason, lack } => Err(CallError::Login { reason, lack }),
            });
        }
        None
    }

    /// Whether a request that got no success may succeed with what there is to show by now.
    #[cfg_attr(
        not(feature = "oauth"),
        expect(clippy::unused_async, reason = "only a login is waited for")
    )]
    pub(crate) async fn has_other(&self, _shown: &Shown, _response: &Response) -> bool {
        #[cfg(feature = "oauth")]
        if let Some(login) = &self.login {
            let url = _response.url();
            let challenge = Challenge::of(_response.status(), _response.headers(), url);
            if let Some(challenge) = challenge {
                return login.has_other(_shown.held.as_ref(), &challenge).await;
            }
        }
        false
    }
}

impl Caller {
    /// Why nothing can be sent until somebody logs in, if that is so.
    pub(crate) fn locked(&self) -> Option<String> {
        #[cfg(feature = "oauth")]
        return self.login.as_ref()?.locked();
        #[cfg(not(feature = "oauth"))]
        None
    }

    /// Waits until somebody is logged in anew. What to tell meanwhile is passed on.
    #[cfg_attr(
        not(feature = "oauth"),
        expect(clippy::unused_async, reason = "only a login is waited for")
    )]
    pub(crate) async fn unlock(&self, _may_ask: bool, _tell: impl FnMut(String)) {
        #[cfg(feature = "oauth")]
        if let Some(login) = &self.login {
            login.unlock(_may_ask, _tell).await;
        }
    }
}
