//! `tool token`.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use serde_json::json;

use crate::args::{Common, Token};
use crate::error::CliError;
use crate::{render, setup};

/// Adds, lists or revokes tokens of clients over HTTP.
pub(crate) async fn run(common: &Common, command: Token) -> Result<ExitCode, CliError> {
    let tokens = setup::tokens(common).await?;
    match command {
        Token::Add { name } => {
            let token = tokens.add(&name).await?;
            // The one time that it can be read.
            if common.json {
                render::json(&json!({"name": name, "token": token.expose()}))?;
            } else {
                let mut out = io::stdout().lock();
                writeln!(out, "{}", token.expose())?;
                out.flush()?;
                render::note(&format!(
                    "this is the token of {name}, and is shown once; it is good for every `serve \
                     --http` on this state until `{} token revoke {name}`",
                    render::program()
                ));
            }
        }
        Token::List => {
            let tokens = tokens.list().await?;
            let since = |since: std::time::SystemTime| {
                let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            };
            if common.json {
                let tokens: Vec<_> = tokens
                    .iter()
                    .map(|token| json!({"name": token.name, "since_ms": since(token.since)}))
                    .collect();
                render::json(&json!({"tokens": tokens}))?;
            } else {
                let mut out = io::stdout().lock();
                for token in &tokens {
                    let since = render::time(since(token.since));
                    writeln!(out, "{}  since {since}", token.name)?;
                }
                out.flush()?;
                if tokens.is_empty() {
                    render::note("no client has a token");
                }
            }
        }
        Token::Revoke { name } => {
            if !tokens.revoke(&name).await? {
                return Err(CliError::NoToken { name });
            }
            if common.json {
                render::json(&json!({"revoked": name}))?;
            } else {
                render::note("revoked; gateways that run end what it has going on within seconds");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
