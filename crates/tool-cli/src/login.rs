//! `tool login` and `tool logout`.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use serde_json::json;
use tool_runtime::core::Namespace;
use tool_runtime::mcp::{
    AuthorizationPage, LoggedIn, LoopbackAuthorizer, ServerConfig, ServersConfig,
};

use crate::args::Common;
use crate::error::CliError;
use crate::{render, setup, signals};

/// Shows a person the page to log in on, and waits for them.
pub(crate) async fn login(common: &Common, name: &str) -> Result<ExitCode, CliError> {
    let server = configured(common, name).await?;
    let logins = setup::logins(common).await?;
    let authorizer = LoopbackAuthorizer::new(show);
    let login = tokio::select! {
        login = logins.login(&server, &authorizer) => login?,
        status = signals::told_to_end() => return Ok(status),
    };
    if common.json {
        render::json(&document(name, &login))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    let mut line = told(name, &login);
    if out.is_terminal() {
        line = render::one_line(&line);
    }
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Forgets a login.
pub(crate) async fn logout(common: &Common, name: &str) -> Result<ExitCode, CliError> {
    let server = Namespace::new(name).map_err(|_| CliError::Name {
        name: name.to_owned(),
    })?;
    let was = setup::logins(common).await?.logout(&server).await?;
    if common.json {
        render::json(&json!({"server": name, "loggedOut": was}))?;
    } else if was {
        writeln!(io::stdout().lock(), "logged out of {name}")?;
        render::note("its authorization server was not told; end the session there as well");
    } else {
        render::note(&format!("nobody was logged in to {name}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// A server of the configuration that may be reached.
async fn configured(common: &Common, name: &str) -> Result<ServerConfig, CliError> {
    let path = common.mcp_config.as_ref();
    let path = path.ok_or_else(|| CliError::NoServers {
        server: name.to_owned(),
    })?;
    let text = std::fs::read_to_string(path).map_err(|source| CliError::Read {
        path: path.clone(),
        source,
    })?;
    let servers = ServersConfig::from_json(&text).map_err(|source| CliError::Servers {
        path: path.clone(),
        source,
    })?;
    if let Some(problem) = servers.problems().find(|problem| problem.server() == name) {
        let problem = problem.to_string();
        return Err(CliError::Server { problem });
    }
    let server = servers
        .servers()
        .find(|server| server.name().as_str() == name);
    let server = server.cloned().ok_or_else(|| {
        let known: Vec<_> = servers
            .servers()
            .map(|server| server.name().as_str())
            .collect();
        CliError::UnknownServer {
            name: name.to_owned(),
            path: path.clone(),
            known: format!("it names {}", known.join(", ")),
        }
    })?;
    let launch = server.launch(setup::servers_folder(path));
    let mut pins = setup::pins(common).await?;
    if let Some(first) = server.first_sight() {
        pins = pins.first_sight(first);
    }
    match pins.see_launch(server.name(), &launch).await? {
        true => Ok(server),
        false => Err(CliError::Held {
            server: name.to_owned(),
        }),
    }
}

/// The page is opened by the person, who sees where it is, and by nothing here.
fn show(page: &AuthorizationPage) {
    render::note(&shown(page));
}

/// A server writes much of it, and no line of its own.
fn shown(page: &AuthorizationPage) -> String {
    let scopes = match page.scopes.is_empty() {
        true => String::new(),
        false => format!(", for {}", page.scopes.join(" ")),
    };
    let place = format!("log in to server {} at {}{scopes}:", page.server, page.host);
    format!(
        "{}\n  {}\nwaiting until that is done; Ctrl-C gives up",
        render::one_line(&place),
        render::one_line(&page.url)
    )
}

fn told(name: &str, login: &LoggedIn) -> String {
    let scopes = match login.scopes.is_empty() {
        true => String::new(),
        false => format!(" for {}", login.scopes.join(" ")),
    };
    let lasts = match (login.renews, login.expires.map(since)) {
        (true, _) => ", renewed without you".to_owned(),
        (false, Some(end)) => format!(", until {}", render::time(end)),
        (false, None) => String::new(),
    };
    format!("logged in to {name} by {}{scopes}{lasts}", login.issuer)
}

fn document(name: &str, login: &LoggedIn) -> serde_json::Value {
    json!({
        "server": name,
        "issuer": login.issuer,
        "scopes": login.scopes,
        "expires": login.expires.map(since),
        "renews": login.renews,
    })
}

/// In milliseconds since 1970.
fn since(moment: std::time::SystemTime) -> u64 {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
