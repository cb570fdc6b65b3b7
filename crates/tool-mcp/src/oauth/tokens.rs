//! What an authorization server gave.

use std::time::{Duration, SystemTime};

use rmcp::transport::auth::OAuthTokenResponse;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use super::challenge::scopes;

/// The longest token that is taken.
const MOST_BYTES: usize = 64 * 1024;
/// How long before its end a token is renewed, and at most half of its time.
const EARLY: Duration = Duration::from_secs(30);
/// A time that no token is good for.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// What an authorization server gave.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) access: SecretString,
    pub(crate) refresh: Option<SecretString>,
    /// Until when the first is good, where that was said.
    pub(crate) expires: Option<SystemTime>,
    /// From when on it is renewed, where that was said.
    pub(crate) due: Option<SystemTime>,
    /// What they are good for, where that was said.
    pub(crate) scopes: Option<Vec<String>>,
}

impl Tokens {
    /// Takes the answer of the library apart. What is wrong with it is a clause.
    pub(crate) fn read(
        response: &OAuthTokenResponse,
        now: SystemTime,
    ) -> Result<Self, &'static str> {
        #[derive(Deserialize)]
        struct Response {
            access_token: String,
            token_type: String,
            refresh_token: Option<String>,
            expires_in: Option<u64>,
            scope: Option<String>,
        }
        let unreadable = |_| "the token that was given cannot be read";
        let response = serde_json::to_value(response).map_err(unreadable)?;
        let response: Response = serde_json::from_value(response).map_err(unreadable)?;
        if !response.token_type.eq_ignore_ascii_case("bearer") {
            return Err("the token that was given is of another kind than \"Bearer\"");
        }
        let access = SecretString::from(response.access_token);
        let refresh = response.refresh_token.map(SecretString::from);
        // Visible characters only, as it becomes a header.
        let fits = |token: &str| {
            !token.is_empty()
                && token.len() <= MOST_BYTES
                && token.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !fits(access.expose_secret()) {
            return Err("the token that was given is empty, too long or no token");
        }
        let lasts = response.expires_in.map(Duration::from_secs);
        let lasts = lasts.map(|time| time.min(LONGEST));
        let after = |time: Duration| now.checked_add(time);
        Ok(Self {
            refresh: refresh.filter(|token| {
                let token = token.expose_secret();
                !token.is_empty() && token.len() <= MOST_BYTES
            }),
            expires: lasts.and_then(after),
            due: lasts.and_then(|time| after(time - EARLY.min(time / 2))),
            scopes: response.scope.as_deref().map(scopes),
            access,
        })
    }
}

/// An answer of an authorization server with these tokens, as the library keeps it.
pub(crate) fn response(
    access: &SecretString,
    refresh: &SecretString,
) -> Option<OAuthTokenResponse> {
    let response: Value = json!({
        "access_token": access.expose_secret(),
        "token_type": "bearer",
        "refresh_token": refresh.expose_secret(),
    });
    serde_json::from_value(response).ok()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use secrecy::ExposeSecret as _;
    use serde_json::{Value, json};

    use super::Tokens;

    fn read(response: Value) -> Result<Tokens, &'static str> {
        let response = serde_json::from_value(response).expect("the library takes it");
        Tokens::read(&response, SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn a_token_is_taken_with_its_time_and_what_it_is_good_for() {
        let tokens = read(json!({
            "access_token": "a", "token_type": "BEARER", "refresh_token": "r",
            "expires_in": 60, "scope": "x y",
        }))
        .expect("it is right");
        assert_eq!(tokens.access.expose_secret(), "a");
        assert!(tokens.refresh.is_some());
        let minute = SystemTime::UNIX_EPOCH + Duration::from_secs(60);
        assert_eq!(tokens.expires, Some(minute));
        let half = SystemTime::UNIX_EPOCH + Duration::from_secs(30);
        assert_eq!(tokens.due, Some(half));
        assert_eq!(tokens.scopes, Some(vec!["x".to_owned(), "y".to_owned()]));
        let forever = json!({"access_token": "a", "token_type": "bearer", "expires_in": u64::MAX});
        assert!(read(forever).expect("it is right").expires.is_some());
    }

    #[test]
    fn a_token_is_due_shortly_before_its_end_and_no_earlier_than_half_of_its_time() {
        for (lasts, due) in [(3600, 3570), (60, 30), (20, 10), (1, 0), (0, 0)] {
            let tokens = json!({"access_token": "a", "token_type": "bearer", "expires_in": lasts});
            let tokens = read(tokens).expect("it is right");
            let since = tokens
                .due
                .expect("it is known")
                .duration_since(SystemTime::UNIX_EPOCH);
            let since = since.expect("it is later").as_secs();
            assert_eq!(since, due, "of {lasts} s");
        }
    }

    #[test]
    fn what_is_no_token_for_a_header_is_none() {
        for (token, kind) in [
            ("a", "mac"),
            ("", "bearer"),
            ("a\nb", "bearer"),
            ("a b", "bearer"),
        ] {
            assert!(
                read(json!({"access_token": token, "token_type": kind})).is_err(),
                "{token}"
            );
        }
    }
}
