//! `tool approvals`.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tool_runtime::permission::{Approval, Posted, Reply, ReplyScope, Rule, Scope};

use crate::args::Common;
use crate::error::CliError;
use crate::policy_args::{Approvals, For, Said};
use crate::{render, setup};

/// Lists, grants, revokes or answers.
pub(crate) async fn run(common: &Common, command: Approvals) -> Result<ExitCode, CliError> {
    let (approvals, mailbox) = setup::approvals(common).await?;
    let failed = |source| CliError::Approvals { source };
    match command {
        Approvals::List => {
            let saved = approvals.list().await.map_err(failed)?;
            let waiting = mailbox.list().await.map_err(failed)?;
            list(common, &saved, &waiting)
        }
        Approvals::Grant {
            action,
            pattern,
            tool,
            session,
            agent,
            call,
            lasts,
        } => {
            if call.is_some() {
                return Err(CliError::CallScope);
            }
            let scope = match (session, agent) {
                (Some(session), _) => Scope::Session(session.into()),
                (None, Some(agent)) => Scope::Agent(agent.into()),
                (None, None) => Scope::Project,
            };
            let mut approval = Approval::new(action, pattern, scope);
            if let Some(tool) = tool {
                approval = approval.for_tool(tool);
            }
            let layers = setup::layers(common)?;
            let overruled = approval.overruled_by(&layers).map(Rule::named);
            let lasts = lasts.map(Duration::from_secs);
            let granted = approvals.grant([approval], lasts).await.map_err(failed)?;
            let listed = list(common, &granted, &[])?;
            if let Some(rule) = overruled {
                render::note(&format!(
                    "it is saved, but can never count: {rule} beats it, whatever it matches"
                ));
            }
            Ok(listed)
        }
        Approvals::Revoke { id } => match approvals.revoke(&id).await.map_err(failed)? {
            true => done(common, "revoked", &id),
            false => Err(CliError::NoApproval { id }),
        },
        Approvals::Answer {
            id,
            reply,
            note,
            scope,
            lasts,
        } => {
            let reply = match reply {
                Said::Once => Reply::Once,
                Said::Always => Reply::Save {
                    scope: match scope {
                        For::Session => ReplyScope::Session,
                        For::Agent => ReplyScope::Agent,
                        For::Project => ReplyScope::Project,
                    },
                    lasts: lasts.map(Duration::from_secs),
                },
                Said::Reject => Reply::Reject { note },
                Said::RejectAll => Reply::RejectAll { note },
                Said::Stop => Reply::RejectAndStop { note },
            };
            match mailbox.answer_as(&id, reply, NAME).await.map_err(failed)? {
                true => done(common, "answered", &id),
                false => Err(CliError::NoQuestion { id }),
            }
        }
    }
}

/// Who has answered, for the audit log of the gateway.
const NAME: &str = "tool approvals";

fn list(common: &Common, saved: &[Approval], waiting: &[Posted]) -> Result<ExitCode, CliError> {
    if common.json {
        render::json(&json!({"approvals": saved, "questions": waiting}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    let terminal = out.is_terminal();
    for approval in saved {
        let tool = approval.tool.as_ref();
        let tool = tool.map(|tool| format!(", by {tool}")).unwrap_or_default();
        let end = match approval.expires_ms {
            None => "no end".to_owned(),
            Some(end) => format!("until {}", render::time(end)),
        };
        let line = format!(
            "{}  allow {} {} for {}{tool}, {end}",
            approval.id, approval.action, approval.resource, approval.scope
        );
        writeln!(out, "{}", render::printable(&line, terminal))?;
    }
    for posted in waiting {
        let tool = posted.tool.as_deref().unwrap_or("a tool");
        let mut text = format!("{}  {tool} asks for {}:", posted.id, posted.action);
        for resource in &posted.resources {
            text.push_str(&format!("\n    {resource}"));
        }
        if let Some(arguments) = &posted.arguments {
            text.push_str(&format!("\n    arguments: {arguments}"));
        }
        text.push_str(&format!("\n    {}", posted.because));
        for pattern in &posted.save {
            text.push_str(&format!("\n    always: allow {} {pattern}", posted.action));
        }
        writeln!(out, "{}", render::printable(&text, terminal))?;
    }
    out.flush()?;
    if saved.is_empty() && waiting.is_empty() {
        render::note("nothing is saved, and nothing waits");
    }
    Ok(ExitCode::SUCCESS)
}

fn done(common: &Common, what: &str, id: &str) -> Result<ExitCode, CliError> {
    if common.json {
        render::json(&json!({"id": id, "done": what}))?;
    } else {
        render::note(&format!("{id} is {what}"));
    }
    Ok(ExitCode::SUCCESS)
}
