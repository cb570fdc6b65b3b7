//! `tool lint`.

mod lines;
mod listed;
mod report;
mod sarif;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tool_runtime::provider::{Finding, Level, Profile, lint_tools};

use crate::args::{Common, Lint, Severity};
use crate::error::CliError;
use crate::render;
use listed::Listed;

/// Tells what providers refuse of definitions as they stand. The status is 1 where one refuses
/// something, and 2 where a server could not be asked.
pub(crate) async fn run(common: &Common, lint: Lint) -> Result<ExitCode, CliError> {
    let mcp_config = common.mcp_config.as_deref();
    let listed = match lint.what.as_deref() {
        Some(what) if what == "-" || Path::new(what).exists() => {
            listed::of_file(Path::new(what), common).await?
        }
        Some(what) => match mcp_config {
            Some(config) => listed::of_server(config, what, common).await?,
            None => {
                return Err(CliError::NothingNamed {
                    name: what.to_owned(),
                });
            }
        },
        None => match mcp_config {
            Some(config) => listed::of_servers(config, common).await?,
            None => return Err(CliError::NothingToLint),
        },
    };
    let listed = match listed {
        Ok(listed) => listed,
        Err(status) => return Ok(status),
    };
    let profiles = match lint.profile.as_slice() {
        [] => Profile::ALL.to_vec(),
        named => Profile::ALL
            .into_iter()
            .filter(|it| named.contains(it))
            .collect(),
    };
    let mut unread = Vec::new();
    let mut linted = Vec::new();
    for listed in listed {
        match listed.tools {
            Ok(_) => linted.push(Linted::of(listed, &profiles, lint.level)),
            Err(_) => unread.push(Unread { listed }),
        }
    }
    let refused = linted.iter().any(|it| it.count(Level::Refused) > 0);
    let status = match unread.is_empty() {
        true => u8::from(refused),
        false => 2,
    };
    if lint.sarif {
        render::json(&sarif::document(&linted, &unread, &profiles, status))?;
    } else if common.json {
        render::json(&document(&linted, &unread))?;
    } else {
        report::print(&linted, &profiles)?;
    }
    for problem in &unread {
        render::note(&format!("error: {problem}"));
    }
    Ok(ExitCode::from(status))
}

/// A server that could not be asked.
struct Unread {
    listed: Listed,
}

impl Unread {
    /// Why, as a clause about the server.
    fn reason(&self) -> &str {
        self.listed.tools.as_ref().err().map_or("", String::as_str)
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server {} {}", self.listed.name, self.reason())
    }
}

/// A list of tools with what was found in it.
struct Linted {
    listed: Listed,
    tools: usize,
    findings: Vec<Finding>,
}

impl Linted {
    fn of(listed: Listed, profiles: &[Profile], least: Severity) -> Self {
        let entries = listed.tools.as_deref().unwrap_or_default();
        let mut findings = lint_tools(entries, profiles);
        findings.retain(|it| least.includes(it.rule.level));
        Self {
            tools: entries.len(),
            findings,
            listed,
        }
    }

    fn count(&self, level: Level) -> usize {
        self.findings
            .iter()
            .filter(|it| it.rule.level == level)
            .count()
    }
}

/// Everything, for programs.
fn document(linted: &[Linted], unread: &[Unread]) -> serde_json::Value {
    let sources: Vec<_> = linted
        .iter()
        .map(|it| json!({"source": it.listed.name, "tools": it.tools, "findings": it.findings}))
        .collect();
    let unread: Vec<_> = unread
        .iter()
        .map(|it| json!({"source": it.listed.name, "reason": it.reason()}))
        .collect();
    let count = |level| linted.iter().map(|it| it.count(level)).sum::<usize>();
    json!({
        "sources": sources,
        "unread": unread,
        "summary": {
            "tools": linted.iter().map(|it| it.tools).sum::<usize>(),
            "refused": count(Level::Refused),
            "givenUp": count(Level::GivenUp),
            "notes": count(Level::Note),
        },
    })
}
