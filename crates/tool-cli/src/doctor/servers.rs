//! Servers, as they are when they are started.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tool_runtime::core::Namespace;
use tool_runtime::mcp::{
    FirstSight, Pins, ServersConfig, UpstreamState, UpstreamStatus, Upstreams,
};
use tool_runtime::registry::Registry;

use super::explained;
use super::finding::Findings;
use crate::args::Common;
use crate::{render, setup};

/// The most of a list that is told of.
const MOST: usize = 5;

/// Starts every server that is as it was trusted, or was never seen and is trusted at first sight,
/// tells how it does, and ends it. Nothing is pinned by a look.
pub(crate) async fn look(
    common: &Common,
    config: Option<ServersConfig>,
    findings: &mut Findings,
) -> Vec<Value> {
    let (Some(config), Some(path)) = (config, &common.mcp_config) else {
        return Vec::new();
    };
    let base = path.parent().filter(|base| !base.as_os_str().is_empty());
    let base = base.unwrap_or(Path::new("."));
    let pins = match setup::pins(common).await {
        Ok(pins) => pins,
        Err(error) => {
            let fix = "no server is started until it can be read";
            findings.problem("pins", explained(&error), fix);
            return Vec::new();
        }
    };
    let mut started = ServersConfig::default();
    let mut launches = HashMap::new();
    for server in config.servers() {
        let about = format!("server {}", server.name());
        let launch = server.launch(base);
        let waits = waiting(&pins, server.name(), &about, findings).await;
        let trusted = match pins.trusted(server.name()).await {
            Ok(trusted) => trusted.and_then(|(launch, _)| launch),
            Err(_) => continue,
        };
        let shown = launch.to_string();
        if trusted.as_ref().is_some_and(|trusted| *trusted != launch) {
            if !waits {
                let text = "how it is reached is not as it was trusted, and it is not started";
                let fix = format!("it is: {shown}; start it once and approve it with `tool pin`");
                findings.problem(&about, text, fix);
            }
            continue;
        }
        let seen = match trusted {
            Some(_) => "trusted",
            // It was told of above.
            None if waits => continue,
            None if server.first_sight() == Some(FirstSight::Hold) => {
                let text = "was never approved, and is not started";
                let fix = format!(
                    "it is: {shown}; `tool list` takes it in without starting it, and `tool pin` \
                     approves it"
                );
                findings.problem(&about, text, fix);
                continue;
            }
            None => {
                // Ahead of the start: whoever did not mean it can still stop it.
                let name = server.name();
                render::note(&format!(
                    "server {name} was never started, and is started now for a look: {shown}"
                ));
                "was never started"
            }
        };
        findings.ok(&about, format!("{seen}: {shown}"));
        launches.insert(server.name().to_string(), shown);
        started = started.with(server.clone().for_a_look());
    }
    let (statuses, times) = settle(
        started,
        base,
        // What is wrong with the state was told above.
        #[cfg(feature = "oauth")]
        setup::logins(common).await.ok(),
    )
    .await;
    statuses
        .iter()
        .map(|status| {
            let about = format!("server {}", status.name);
            tell(
                path,
                &about,
                status,
                times.get(&status.name).copied(),
                findings,
            );
            let (state, tools) = (status.state.as_str(), tools(status));
            json!({
                "name": status.name,
                "state": state,
                "protocol": status.protocol,
                "tools": tools,
                "listed_in_ms": times.get(&status.name).map(Duration::as_millis),
                "launch": launches.get(&status.name),
            })
        })
        .collect()
}

/// Tells of what waits for approval, and whether how the server is reached is among it.
async fn waiting(pins: &Pins, server: &Namespace, about: &str, findings: &mut Findings) -> bool {
    let changes = match pins.changes(server).await {
        Ok(changes) => changes,
        Err(error) => {
            findings.problem(about, explained(&error.into()), "the server is not started");
            return true;
        }
    };
    if changes.is_empty() {
        return false;
    }
    let launch = changes.iter().any(|change| change.tool.is_none());
    let mut parts: Vec<String> = Vec::new();
    parts.extend(launch.then(|| "how it is reached".to_owned()));
    let tools = changes.iter().filter_map(|change| change.tool.as_deref());
    parts.extend(tools.map(|tool| format!("tool \"{}\"", tool.escape_debug())));
    let text = format!("waits for approval: {}", some_of(&parts, ", "));
    findings.problem(
        about,
        text,
        format!("look at it with `tool pin diff {server}`"),
    );
    launch
}

/// Starts servers, waits until each is ready or has failed, and ends them.
async fn settle(
    servers: ServersConfig,
    base: &Path,
    #[cfg(feature = "oauth")] logins: Option<tool_runtime::mcp::Logins>,
) -> (Vec<UpstreamStatus>, HashMap<String, Duration>) {
    let began = Instant::now();
    let upstreams = Upstreams::builder(servers)
        .base_dir(base)
        .client("tool", env!("CARGO_PKG_VERSION"));
    #[cfg(feature = "oauth")]
    let upstreams = match logins {
        Some(logins) => upstreams.logins(logins),
        None => upstreams,
    };
    let mut upstreams = upstreams.connect(&Registry::default());
    let mut times = HashMap::new();
    loop {
        let statuses = upstreams.statuses();
        for status in &statuses {
            if status.state != UpstreamState::Connecting {
                times
                    .entry(status.name.clone())
                    .or_insert_with(|| began.elapsed());
            }
        }
        if times.len() == statuses.len() {
            upstreams.shutdown().await;
            return (statuses, times);
        }
        upstreams.changed().await;
    }
}

fn tools(status: &UpstreamStatus) -> usize {
    match &status.state {
        UpstreamState::Ready { tools, .. } => *tools,
        _ => 0,
    }
}

fn tell(
    config: &Path,
    about: &str,
    status: &UpstreamStatus,
    took: Option<Duration>,
    findings: &mut Findings,
) {
    let seconds = took.unwrap_or_default().as_secs_f64();
    match &status.state {
        UpstreamState::Ready { tools, refused } => {
            let protocol = status.protocol.as_deref().unwrap_or("an unknown revision");
            let tools = render::counted(*tools, "tool");
            let text = format!("listed {tools} in {seconds:.1} s, in {protocol}");
            findings.ok(about, text);
            if !refused.is_empty() {
                let refused: Vec<String> = refused
                    .iter()
                    .map(|tool| format!("\"{}\": {}", tool.name.escape_debug(), tool.reason))
                    .collect();
                let text = format!("tools that cannot be called: {}", some_of(&refused, "; "));
                let fix = "whoever makes the server can put them right; the others can be called";
                findings.problem(about, text, fix);
            }
            if status.skipped_lines > 0 {
                let lines = status.skipped_lines;
                let text = format!("wrote {lines} lines to stdout that are no messages; skipped");
                findings.ok(about, text);
            }
            for note in &status.notes {
                let fix = "put the overlay right, or tell whoever makes the server";
                findings.problem(about, note.clone(), fix);
            }
        }
        UpstreamState::Failed { reason }
        | UpstreamState::Away { reason, .. }
        | UpstreamState::Held { reason } => {
            let said = status
                .stderr
                .lines()
                .rev()
                .find(|line| !line.trim().is_empty());
            let fix = match said {
                Some(said) => format!("it wrote last: {}", said.trim()),
                None => format!(
                    "put its entry in {} right, or start it by hand to see what it wants",
                    config.display()
                ),
            };
            findings.problem(about, reason.clone(), fix);
        }
        UpstreamState::Locked { reason } => {
            findings.problem(about, reason.clone(), "log in, or configure a token");
        }
        other => {
            let text = format!("is {}", other.as_str());
            findings.problem(about, text, "look again");
        }
    }
}

fn some_of(parts: &[String], between: &str) -> String {
    let shown = parts.iter().take(MOST).map(String::as_str);
    let shown = shown.collect::<Vec<_>>().join(between);
    match parts.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown}{between}and {more} more"),
    }
}
