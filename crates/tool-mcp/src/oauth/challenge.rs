//! What a server answers that wants to know who calls.

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use rmcp::transport::auth::WWWAuthenticateParams;

/// The longest challenge that is read.
const MOST_BYTES: usize = 8 * 1024;
/// The most scopes that one may name.
const MOST_SCOPES: usize = 100;

/// What a server answers that wants to know who calls, or that wants it to have more rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// The header as it came.
    pub(crate) text: String,
    /// The scopes that it names.
    pub(crate) scopes: Vec<String>,
    /// Whether who calls is known and has too few rights.
    pub(crate) insufficient: bool,
}

impl Challenge {
    /// Reads the challenge of a response; nothing where it has another status, or none for a
    /// bearer of tokens. A 401 without one is a challenge that says nothing.
    ///
    /// Source: RFC 6750, section 3; RFC 9728, section 5.1.
    pub(crate) fn of(
        status: StatusCode,
        headers: &HeaderMap,
        server: &reqwest::Url,
    ) -> Option<Self> {
        if status != StatusCode::UNAUTHORIZED && status != StatusCode::FORBIDDEN {
            return None;
        }
        let text = headers
            .get_all(WWW_AUTHENTICATE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .find(|text| text.len() <= MOST_BYTES && is_for_bearers(text));
        let Some(text) = text else {
            return (status == StatusCode::UNAUTHORIZED).then(|| Self {
                text: String::new(),
                scopes: Vec::new(),
                insufficient: false,
            });
        };
        let read = WWWAuthenticateParams::parse(text, server);
        let insufficient = status == StatusCode::FORBIDDEN && read.is_insufficient_scope();
        if status == StatusCode::FORBIDDEN && !insufficient {
            return None;
        }
        Some(Self {
            text: text.to_owned(),
            scopes: scopes(read.scope.as_deref().unwrap_or_default()),
            insufficient,
        })
    }
}

/// The scopes of a list, each of the characters that one may have.
///
/// Source: RFC 6749, section 3.3.
pub(crate) fn scopes(list: &str) -> Vec<String> {
    let is_one = |scope: &&str| {
        scope.len() <= 200
            && scope
                .bytes()
                .all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
    };
    let mut scopes: Vec<String> = Vec::new();
    for scope in list.split_ascii_whitespace().filter(is_one) {
        if scopes.len() < MOST_SCOPES && !scopes.iter().any(|other| other == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// Those of two lists, each once, and no more than one list may name: what a server says makes
/// none grow without end.
pub(crate) fn union(mut scopes: Vec<String>, more: &[String]) -> Vec<String> {
    for scope in more {
        if scopes.len() < MOST_SCOPES && !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
    scopes
}

fn is_for_bearers(text: &str) -> bool {
    let scheme = text.trim_start().split([' ', ',']).next();
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"))
        || text.to_ascii_lowercase().contains(", bearer ")
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
    use reqwest::{StatusCode, Url};

    use super::{Challenge, MOST_SCOPES, union};

    fn read(status: u16, values: &[&'static str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(value));
        }
        let server = Url::parse("https://mcp.example.com/mcp").expect("it is one");
        Challenge::of(
            StatusCode::from_u16(status).expect("it is one"),
            &headers,
            &server,
        )
    }

    #[test]
    fn a_challenge_is_read_where_there_is_one_for_bearers() {
        let challenge = read(401, &["Basic realm=\"x\"", "bearer scope=\"a b a\""]);
        let challenge = challenge.expect("there is one");
        assert_eq!(challenge.scopes, ["a", "b"]);
        assert!(!challenge.insufficient);
        let silent = read(401, &[]).expect("401 is one by itself");
        assert_eq!((silent.text.as_str(), silent.scopes.len()), ("", 0));
    }

    #[test]
    fn what_a_server_wants_one_time_after_the_other_stays_bounded() {
        let mut wanted = Vec::new();
        for round in 0..5 {
            let more: Vec<_> = (0..60).map(|at| format!("{round}-{at}")).collect();
            wanted = union(wanted, &more);
        }
        assert_eq!(wanted.len(), MOST_SCOPES);
        assert_eq!((wanted[0].as_str(), wanted[99].as_str()), ("0-0", "1-39"));
        assert_eq!(union(wanted.clone(), &["0-0".to_owned()]), wanted);
    }

    #[test]
    fn only_too_few_rights_make_a_challenge_of_a_refusal() {
        assert_eq!(read(403, &[]), None);
        assert_eq!(read(403, &["Bearer error=\"invalid_token\""]), None);
        assert_eq!(read(200, &["Bearer error=\"insufficient_scope\""]), None);
        let challenge = read(403, &["Bearer error=\"insufficient_scope\", scope=\"w\""]);
        let challenge = challenge.expect("there is one");
        assert!(challenge.insufficient);
        assert_eq!(challenge.scopes, ["w"]);
    }
}
