//! Tokens of clients, kept in a state.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tool_core::{Digest, State, StateError, StateReading, StateVersion};

use super::BearerToken;
use crate::serve::ServeError;

/// Tokens of clients, kept in a state: one for each principal, added and revoked while servers run.
///
/// What is kept of a token is its digest: the secret is given to whoever adds it, once. A server
/// that is told of them with [`HttpOptions::kept_tokens`](super::HttpOptions::kept_tokens) takes in
/// changes within two seconds; what a client whose token was revoked has going on ends then. Where
/// the state cannot be read, or takes longer than five seconds, no token that is kept is taken until
/// it can.
///
/// ```
/// use std::sync::Arc;
/// use tool_core::State;
/// use tool_mcp::ClientTokens;
/// use tool_registry::MemoryState;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tokens = ClientTokens::new(Arc::new(MemoryState::default()) as Arc<dyn State>);
/// let token = tokens.add("ann").await?;
/// assert!(token.expose().len() > 40);
/// assert_eq!(tokens.list().await?[0].name, "ann");
/// assert!(tokens.revoke("ann").await?);
/// assert!(!tokens.revoke("ann").await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ClientTokens {
    state: Arc<dyn State>,
}

/// A token that is kept, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientToken {
    /// The principal that shows it.
    pub name: String,
    /// When it was added.
    pub since: SystemTime,
}

/// Tokens that could not be read or changed. The text is for operators.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The state could not be read or written.
    #[error("tokens of clients could not be read or kept")]
    State(#[source] StateError),
    /// What is kept has another form.
    #[error("tokens of clients are kept in a form that is not known")]
    Form(#[source] serde_json::Error),
    /// What is kept was written by a later version.
    #[error("tokens of clients are kept in version {version}, which this program does not know")]
    Version {
        /// The version.
        version: u64,
    },
    /// A name that no token can have.
    #[error(
        "\"{}\" is no name of a client; use 1 to 64 letters, digits, dots, underscores and hyphens",
        name.escape_debug()
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The name is taken.
    #[error("client {name} has a token; revoke it first")]
    Taken {
        /// The name.
        name: String,
    },
    /// The most tokens are kept.
    #[error("there are {most} tokens, which is the most; revoke one first")]
    Full {
        /// How many there can be.
        most: usize,
    },
    /// The state did not answer.
    #[error("tokens of clients could not be read within {seconds} s")]
    Late {
        /// How long it was waited for.
        seconds: u64,
    },
    /// There is no randomness.
    #[error("no token could be made up")]
    Random(#[source] ServeError),
    /// Others change them all the time.
    #[error("tokens of clients are changed by others all the time")]
    Busy,
}

/// The key under which they are kept.
const KEY: &str = "mcp/clients";
/// The version that is written here.
const VERSION: u64 = 1;
/// How often a change is tried. Each failed attempt is somebody else's success.
const MOST_ATTEMPTS: usize = 256;
/// Every one is compared with what a client shows.
const MOST_TOKENS: usize = 1_024;
const LONGEST_NAME: usize = 64;

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    version: u64,
    tokens: Vec<Kept>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    name: String,
    /// Hexadecimal digits of the digest of the secret.
    digest: String,
    since_ms: u64,
}

impl ClientTokens {
    /// Tokens that are kept in a state, which must keep values.
    pub fn new(state: Arc<dyn State>) -> Self {
        Self { state }
    }

    /// Makes up a token for a principal that has none. Nobody can read it again.
    ///
    /// # Errors
    /// [`TokensError::Name`], [`TokensError::Taken`], [`TokensError::Full`],
    /// [`TokensError::Random`], and those of the state; whether it was kept is not known then.
    ///
    /// # Cancel safety
    /// It may be kept though the future was dropped.
    pub async fn add(&self, name: &str) -> Result<BearerToken, TokensError> {
        let fits = |one: char| one.is_ascii_alphanumeric() || "._-".contains(one);
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
            let name = name.to_owned();
            return Err(TokensError::Name { name });
        }
        let token = BearerToken::random().map_err(TokensError::Random)?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let kept = Kept {
            name: name.to_owned(),
            digest: token.digest().hex(),
            since_ms: u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX),
        };
        self.change(|tokens| {
            if tokens.iter().any(|token| token.name == name) {
                let name = name.to_owned();
                return Err(TokensError::Taken { name });
            }
            if tokens.len() >= MOST_TOKENS {
                return Err(TokensError::Full { most: MOST_TOKENS });
            }
            tokens.push(kept.clone());
            Ok(())
        })
        .await?;
        Ok(token.principal(name))
    }

    /// All tokens, by name.
    ///
    /// # Errors
    /// [`TokensError`].
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn list(&self) -> Result<Vec<ClientToken>, TokensError> {
        let (record, _) = self.read().await?;
        let token = |kept: Kept| ClientToken {
            name: kept.name,
            since: UNIX_EPOCH + std::time::Duration::from_millis(kept.since_ms),
        };
        let mut tokens: Vec<_> = record.tokens.into_iter().map(token).collect();
        tokens.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(tokens)
    }

    /// Takes a token back, and tells whether there was one of that name.
    ///
    /// # Errors
    /// [`TokensError`]; whether it was taken back is not known then.
    ///
    /// # Cancel safety
    /// It may be taken back though the future was dropped.
    pub async fn revoke(&self, name: &str) -> Result<bool, TokensError> {
        self.change(|tokens| {
            let before = tokens.len();
            tokens.retain(|token| token.name != name);
            Ok(tokens.len() < before)
        })
        .await
    }

    /// Names and digests. One that cannot be read lets nobody in.
    pub(crate) async fn kept(&self) -> Result<Vec<(String, Digest)>, TokensError> {
        let (record, _) = self.read().await?;
        let tokens = record.tokens.into_iter();
        Ok(tokens
            .filter_map(|kept| Some((kept.name, Digest::from_hex(&kept.digest)?)))
            .collect())
    }

    async fn change<T>(
        &self,
        mut change: impl FnMut(&mut Vec<Kept>) -> Result<T, TokensError>,
    ) -> Result<T, TokensError> {
        for _ in 0..MOST_ATTEMPTS {
            let (mut record, version) = self.read().await?;
            let told = change(&mut record.tokens)?;
            let text = serde_json::to_vec(&record).map_err(TokensError::Form)?;
            let written = self.state.write(KEY, version.as_ref(), &text).await;
            if written.map_err(TokensError::State)?.is_some() {
                return Ok(told);
            }
        }
        Err(TokensError::Busy)
    }

    async fn read(&self) -> Result<(Record, Option<StateVersion>), TokensError> {
        let reading = self.state.read(KEY, None).await;
        let (text, version) = match reading.map_err(TokensError::State)? {
            StateReading::Value(text, version) => (text, version),
            StateReading::Absent | StateReading::Unchanged => {
                let record = Record {
                    version: VERSION,
                    tokens: Vec::new(),
                };
                return Ok((record, None));
            }
        };
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(TokensError::Form)?;
        let written = value.get("version").and_then(serde_json::Value::as_u64);
        if let Some(version) = written.filter(|version| *version != VERSION) {
            return Err(TokensError::Version { version });
        }
        let record = serde_json::from_value(value).map_err(TokensError::Form)?;
        Ok((record, Some(version)))
    }
}

impl fmt::Debug for ClientTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientTokens(..)")
    }
}
