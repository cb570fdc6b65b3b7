//! The first exchange with a server, which settles the era.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::call_error::CallError;
use super::connection::Connection;
use super::era::{Era, Greeting, HANDSHAKE, HANDSHAKES, STATELESS};
use super::mailbox::Answer;
use super::pending::Pending;

/// The code with which a server refuses a revision that it does not speak.
const UNSUPPORTED_VERSION: i64 = -32022;

/// Finds out which era a server speaks, or greets it in the one that is remembered.
///
/// It is asked with `server/discover`. Any error, or silence for longer than `patience`, makes us
/// offer the handshake on the same connection; what is answered first to the handshake counts, and
/// a late answer to the probe only where the handshake is refused, so that a server that is merely
/// slow to start is never misread. A server that refuses the revision and names it among those that
/// it speaks is asked once more.
///
/// # Errors
/// [`CallError::Gone`] also where the server ended because of the probe.
///
/// # Cancel safety
/// Dropping the future leaves the connection of no use.
pub(crate) async fn greet(
    connection: &Connection,
    remembered: Option<&Era>,
    patience: Duration,
) -> Result<Greeting, CallError> {
    if matches!(remembered, Some(Era::Handshake(_))) {
        return shake_hands(connection, HANDSHAKE).await;
    }
    let mut probe = Box::pin(settle(discover(connection).await?));
    let mut probed = tokio::select! {
        probed = &mut probe => Some(probed),
        () = sleep(patience) => None,
    };
    if let Some(Err(refused)) = &probed
        && spoken_all_the_same(refused).as_deref() == Some(STATELESS)
    {
        probe = Box::pin(settle(discover(connection).await?));
        probed = tokio::select! {
            probed = &mut probe => Some(probed),
            () = sleep(patience) => None,
        };
    }
    match probed {
        Some(Ok(answer)) => match supported(&answer.result).as_deref() {
            Some(version) if version != STATELESS => shake_hands(connection, version).await,
            Some(_) => Ok(discovered(connection, answer)),
            // Something that is no discovery: an old server that answers anything.
            None => shake_hands(connection, HANDSHAKE).await,
        },
        Some(Err(error)) if error.wants_login().is_some() => Err(error),
        Some(Err(error @ (CallError::Gone | CallError::NotSent | CallError::TooMany(_)))) => {
            Err(error)
        }
        Some(Err(refused)) => {
            let version = spoken_all_the_same(&refused);
            shake_hands(connection, version.as_deref().unwrap_or(HANDSHAKE)).await
        }
        None => {
            let mut handshake = std::pin::pin!(shake_hands(connection, HANDSHAKE));
            let mut late = None;
            loop {
                tokio::select! {
                    greeting = &mut handshake => return match (greeting, late) {
                        (Ok(greeting), _) => Ok(greeting),
                        (Err(_), Some(answer)) => Ok(discovered(connection, answer)),
                        (Err(error @ (CallError::Gone | CallError::NotSent)), None) => Err(error),
                        // It may be about to answer the probe, in that order or another.
                        (Err(error), None) => match probe.await {
                            Ok(answer) if is_stateless(&answer) => {
                                Ok(discovered(connection, answer))
                            }
                            _ => Err(error),
                        },
                    },
                    probed = &mut probe, if late.is_none() => match probed {
                        Ok(answer) if is_stateless(&answer) => late = Some(answer),
                        _ => return handshake.await,
                    },
                }
            }
        }
    }
}

async fn discover(connection: &Connection) -> Result<Pending<'_>, CallError> {
    connection
        .begin_as(&Era::Stateless, "server/discover", Map::new(), None)
        .await
}

/// The newest revision that is spoken here and by a server that refuses the one it was asked in.
fn spoken_all_the_same(refused: &CallError) -> Option<String> {
    match refused {
        CallError::Peer {
            code: UNSUPPORTED_VERSION,
            data: Some(data),
            ..
        } => best(data.get("supported")),
        _ => None,
    }
}

async fn settle(mut pending: Pending<'_>) -> Result<Answer, CallError> {
    // Whoever greets has a limit of its own.
    pending.left = Duration::from_secs(3600);
    pending.settle(|_| {}).await
}

fn is_stateless(answer: &Answer) -> bool {
    supported(&answer.result).as_deref() == Some(STATELESS)
}

fn supported(result: &Value) -> Option<String> {
    best(result.get("supportedVersions"))
}

/// The newest revision of a list that is spoken here.
fn best(versions: Option<&Value>) -> Option<String> {
    let versions: Vec<_> = versions?
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    [STATELESS]
        .iter()
        .chain(HANDSHAKES.iter().rev())
        .find(|known| versions.contains(*known))
        .map(|known| (*known).to_owned())
}

fn discovered(connection: &Connection, mut answer: Answer) -> Greeting {
    connection.settle(Era::Stateless);
    Greeting {
        era: Era::Stateless,
        capabilities: capabilities(&mut answer.result),
    }
}

async fn shake_hands(connection: &Connection, version: &str) -> Result<Greeting, CallError> {
    // A server that knows no handshake at all says so by refusing it.
    let version = if version == STATELESS {
        HANDSHAKE
    } else {
        version
    };
    let party = connection.party();
    let params = json!({
        "protocolVersion": version,
        "capabilities": party.capabilities(connection.server()).await,
        "clientInfo": party.info(),
    });
    let Value::Object(params) = params else {
        return Err(CallError::Unreadable);
    };
    let era = Era::Handshake(version.into());
    let pending = connection
        .begin_as(&era, "initialize", params, None)
        .await?;
    let mut answer = settle(pending).await?;
    let settled = answer.result.get("protocolVersion").and_then(Value::as_str);
    let Some(settled) = settled else {
        return Err(CallError::Unreadable);
    };
    let era = Era::Handshake(settled.chars().take(64).collect::<String>().into());
    connection.settle(era.clone());
    connection.notify("notifications/initialized", Map::new());
    Ok(Greeting {
        era,
        capabilities: capabilities(&mut answer.result),
    })
}

fn capabilities(result: &mut Value) -> Map<String, Value> {
    match result.get_mut("capabilities").map(Value::take) {
        Some(Value::Object(capabilities)) => capabilities,
        _ => Map::new(),
    }
}
