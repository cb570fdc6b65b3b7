//! What a person brings back from a page.

use reqwest::Url;
use secrecy::SecretString;

/// What a person brings back from a page.
#[derive(Debug)]
pub(crate) struct Callback {
    pub(crate) code: SecretString,
    pub(crate) issuer: Option<String>,
}

/// Why what came back is of no use.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Useless {
    /// It belongs to another login, or to none.
    Foreign,
    /// It names who answered, who is somebody else.
    Issuer,
    /// The authorization server said no, with a code.
    Refused(String),
}

impl Callback {
    /// Reads where a person was sent. It has to belong to the login with this state, and whoever
    /// says that he answered it has to be the one who was asked: for an error as well.
    ///
    /// Source: RFC 6749, section 4.1.2; RFC 9207, section 2.4.
    pub(crate) fn read(url: &str, state: &str, asked: &str) -> Result<Self, Useless> {
        let url = Url::parse(url).map_err(|_| Useless::Foreign)?;
        let query = url.query().unwrap_or_default();
        let only = |name: &str| {
            let mut values = url.query_pairs().filter(|(key, _)| key == name);
            match (values.next(), values.next()) {
                (None, _) => Ok(None),
                (Some((_, value)), None) => Ok(Some(value.into_owned())),
                // Whoever reads another of them reads something else.
                (Some(_), Some(_)) => Err(Useless::Foreign),
            }
        };
        if parameter(query, "state").as_deref() != Some(state) || state.is_empty() {
            return Err(Useless::Foreign);
        }
        only("state")?;
        let issuer = only("iss")?;
        if issuer.as_deref().is_some_and(|issuer| issuer != asked) {
            return Err(Useless::Issuer);
        }
        if let Some(error) = only("error")? {
            return Err(Useless::Refused(code(&error)));
        }
        let code = only("code")?.filter(|code| !code.is_empty());
        Ok(Self {
            code: code.ok_or(Useless::Foreign)?.into(),
            issuer,
        })
    }
}

/// The first value of a name in a query.
pub(crate) fn parameter(query: &str, name: &str) -> Option<String> {
    let mut url = Url::parse("http://localhost").ok()?;
    url.set_query(Some(query));
    let mut pairs = url.query_pairs();
    let (_, value) = pairs.find(|(key, _)| key == name)?;
    Some(value.into_owned())
}

/// A code of an error, which has words and underscores and is short: nothing else of what the
/// other side says is passed on.
pub(crate) fn code(text: &str) -> String {
    let plain = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
    let code: String = text.chars().filter(plain).take(64).collect();
    if code.is_empty() {
        "an error without a code".to_owned()
    } else {
        code
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::{Callback, Useless};

    fn read(query: &str) -> Result<Callback, Useless> {
        let url = format!("http://127.0.0.1:1/callback?{query}");
        Callback::read(&url, "s", "https://as.example.com")
    }

    #[test]
    fn an_answer_is_bound_to_the_login_that_it_is_for() {
        let answer = read("code=c%2F1&state=s").expect("it is right");
        assert_eq!(answer.code.expose_secret(), "c/1");
        assert_eq!(answer.issuer, None);
        for wrong in [
            "code=c",
            "code=c&state=",
            "code=c&state=t",
            "code=c&state=s&state=t",
            "code=c&code=d&state=s",
            "state=s",
            "error=access_denied",
            "error=access_denied&state=t",
        ] {
            assert_eq!(read(wrong).err(), Some(Useless::Foreign), "{wrong}");
        }
    }

    #[test]
    fn whoever_answers_is_who_was_asked_to_the_letter() {
        let answer = read("code=c&state=s&iss=https%3A%2F%2Fas.example.com");
        let answer = answer.expect("it is right");
        assert_eq!(answer.issuer.as_deref(), Some("https://as.example.com"));
        for wrong in ["https://as.example.com/", "https://evil.example.com", ""] {
            for answer in ["code=c", "error=access_denied"] {
                let read = read(&format!("{answer}&state=s&iss={wrong}"));
                assert_eq!(read.err(), Some(Useless::Issuer), "{answer} {wrong}");
            }
        }
    }

    #[test]
    fn of_a_refusal_only_its_code_is_passed_on() {
        let read = read("error=access_denied%1b%5B31m%20please&state=s&error_description=canary");
        let code = "access_denied31mplease".to_owned();
        assert_eq!(read.err(), Some(Useless::Refused(code)));
    }
}
