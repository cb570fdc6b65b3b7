//! `tool login` and `tool logout`.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use serde_json::json;
use tool_runtime::core::{ErrorChain, Namespace};
use tool_runtime::mcp::{
    AuthorizationPage, LoggedIn, LoggedOut, LoopbackAuthorizer, Revocation, ServerConfig,
    ServersConfig,
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

/// Forgets a login, and has its tokens revoked.
pub(crate) async fn logout(common: &Common, name: &str) -> Result<ExitCode, CliError> {
    let server = Namespace::new(name).map_err(|_| CliError::Name {
        name: name.to_owned(),
    })?;
    // What is kept is forgotten whether or not the server is still configured, or configured right.
    let config = match read(common, name) {
        Ok(servers) => Some(servers),
        Err(CliError::NoServers { .. }) => None,
        Err(error) => {
            without(&ErrorChain::of(&error).to_string());
            None
        }
    };
    for problem in config.iter().flat_map(|servers| problems(servers, name)) {
        without(&problem);
    }
    let config = config.as_ref().and_then(|servers| named(servers, name));
    let out = setup::logins(common).await?.logout(&server, config).await?;
    if common.json {
        render::json(&ended(name, out.as_ref()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(out) = out else {
        render::note(&format!("nobody was logged in to {name}"));
        return Ok(ExitCode::SUCCESS);
    };
    writeln!(io::stdout().lock(), "logged out of {name}")?;
    if let Some(note) = became(&out) {
        render::note(&render::one_line(&note));
    }
    Ok(ExitCode::SUCCESS)
}

/// Says why a login is ended without what is configured for it.
fn without(problem: &str) {
    let note = format!("the login is ended without what is configured for it: {problem}");
    render::note(&render::one_line(&note));
}

/// What became of the tokens, for a person.
fn became(out: &LoggedOut) -> Option<String> {
    let issuer = out.issuer.as_deref();
    let issuer = issuer.unwrap_or("its authorization server");
    match &out.revocation {
        Revocation::Nothing => None,
        Revocation::Done => Some(format!("its tokens were revoked by {issuer}")),
        Revocation::NotOffered => Some(format!(
            "no safe address is known at which {issuer} revokes tokens, so that they may be good \
             until they end; end the session there as well"
        )),
        Revocation::Failed { reason } => Some(format!(
            "its tokens are forgotten, and may be good until they end, as they were not revoked: \
             {reason}; end the session there as well"
        )),
        _ => Some("its tokens are forgotten; end the session there as well".to_owned()),
    }
}

fn ended(name: &str, out: Option<&LoggedOut>) -> serde_json::Value {
    let Some(out) = out else {
        return json!({"server": name, "loggedOut": false});
    };
    let (revoked, reason) = match &out.revocation {
        Revocation::Done => (true, None),
        Revocation::Failed { reason } => (false, Some(reason)),
        _ => (false, None),
    };
    json!({
        "server": name,
        "loggedOut": true,
        "issuer": out.issuer,
        "revoked": revoked,
        "reason": reason,
    })
}

/// A server of the configuration that may be reached.
async fn configured(common: &Common, name: &str) -> Result<ServerConfig, CliError> {
    let servers = read(common, name)?;
    let problems: Vec<_> = problems(&servers, name).collect();
    if !problems.is_empty() {
        let problem = problems.join("\n");
        return Err(CliError::Server { problem });
    }
    let path = common.mcp_config.clone().unwrap_or_default();
    let server = named(&servers, name);
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
    let launch = server.launch(setup::servers_folder(&path));
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

/// What is wrong with the entry of a server.
fn problems<'a>(servers: &'a ServersConfig, name: &'a str) -> impl Iterator<Item = String> + 'a {
    let problems = servers.problems();
    let of_it = problems.filter(move |problem| problem.server() == name);
    of_it.map(ToString::to_string)
}

fn named<'a>(servers: &'a ServersConfig, name: &str) -> Option<&'a ServerConfig> {
    let mut servers = servers.servers();
    servers.find(|server| server.name().as_str() == name)
}

fn read(common: &Common, name: &str) -> Result<ServersConfig, CliError> {
    let path = common.mcp_config.as_ref();
    let path = path.ok_or_else(|| CliError::NoServers {
        server: name.to_owned(),
    })?;
    let text = std::fs::read_to_string(path).map_err(|source| CliError::Read {
        path: path.clone(),
        source,
    })?;
    ServersConfig::from_json(&text).map_err(|source| CliError::Servers {
        path: path.clone(),
        source,
    })
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
