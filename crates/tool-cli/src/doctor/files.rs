//! Settings, policies and the list of servers.

use std::path::{Path, PathBuf};

use tool_runtime::core::ErrorChain;
use tool_runtime::mcp::ServersConfig;
use tool_runtime::permission::Layer;
use tool_runtime::{RuntimeError, Settings};

use super::finding::Findings;
use super::launcher;
use crate::args::Common;
use crate::settings_file;

/// The settings were found and are broken.
pub(crate) struct Broken;

/// The file of settings, where there is one.
pub(crate) fn settings(
    common: &Common,
    findings: &mut Findings,
) -> Result<Option<Settings>, Broken> {
    if let Some(path) = settings_file::unread(common) {
        let path = path.display();
        let text = format!("not read, as nobody named it; if you trust it: --config {path}");
        findings.ok(format!("settings {path}"), text);
    }
    let path = match settings_file::read(common) {
        Ok(Some(path)) => path,
        Ok(None) => {
            findings.ok("settings", "none; the defaults hold");
            return Ok(None);
        }
        Err(error) => {
            let text = ErrorChain::of(&error).to_string();
            findings.problem("settings", text, "name a file that can be read");
            return Err(Broken);
        }
    };
    let about = format!("settings {}", path.display());
    writable(&path, &about, findings);
    match Settings::load(&path) {
        Ok(settings) => {
            findings.ok(about, "can be read");
            Ok(Some(settings))
        }
        Err(error) => {
            let fix = "nothing runs until the file is right as a whole";
            findings.problem(about, ErrorChain::of(&error).to_string(), fix);
            Err(Broken)
        }
    }
}

/// The policy files of the command line, and those that the settings name.
pub(crate) fn policies(
    common: &Common,
    settings: Result<&Option<Settings>, &Broken>,
    findings: &mut Findings,
) {
    for path in &common.policy {
        let about = format!("policy {}", path.display());
        writable(path, &about, findings);
        match Layer::load(path).map_err(RuntimeError::from) {
            Ok(layer) => findings.ok(about, rules(&layer)),
            Err(error) => {
                let fix = "nothing runs until the file is right as a whole";
                findings.problem(about, ErrorChain::of(&error).to_string(), fix);
            }
        }
    }
    // The first are those of the settings themselves.
    let named = settings.ok().and_then(Option::as_ref);
    for layer in named
        .into_iter()
        .flat_map(|settings| settings.layers.iter().skip(1))
    {
        let path = PathBuf::from(layer.name());
        let about = format!("policy {}", path.display());
        writable(&path, &about, findings);
        findings.ok(about, rules(layer));
    }
}

fn rules(layer: &Layer) -> String {
    match layer.rules().len() {
        1 => "1 rule".to_owned(),
        rules => format!("{rules} rules"),
    }
}

/// The servers, with everything that can be told without starting one.
pub(crate) fn servers(common: &Common, findings: &mut Findings) -> Option<ServersConfig> {
    let path = common.mcp_config.as_ref()?;
    let about = format!("servers {}", path.display());
    writable(path, &about, findings);
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let text = format!("could not be read: {error}");
            findings.problem(about, text, "give a file that is there with --mcp-config");
            return None;
        }
    };
    let config = match ServersConfig::from_json(&text) {
        Ok(config) => config,
        Err(error) => {
            let fix = "write an object with a member \"mcpServers\", which has one object for each server";
            findings.problem(about, ErrorChain::of(&error).to_string(), fix);
            return None;
        }
    };
    let servers = config.servers().count();
    findings.ok(&about, format!("{servers} servers that can be started"));
    for problem in config.problems() {
        let of = format!("server {}", problem.server());
        let fix = format!(
            "put the entry right in {}; it is not started as it is",
            path.display()
        );
        findings.problem(of, problem.to_string(), fix);
    }
    for unknown in config.unknown_keys() {
        findings.problem(
            format!("server {}", unknown.server),
            format!(
                "key \"{}\" is not known and is without effect",
                unknown.key.escape_debug()
            ),
            format!("write \"{}\", if that is meant", unknown.nearest),
        );
    }
    for server in config.servers() {
        let about = format!("server {}", server.name());
        // What the prefix fetches, such as an image to run inside of, and what it runs.
        let words: Vec<&str> = server.words().collect();
        let own = words.get(server.prefix_words().len()..).unwrap_or_default();
        let (whole, own) = (launcher::unpinned(&words), launcher::unpinned(own));
        let own = own.filter(|own| whole.as_ref() != Some(own));
        for unpinned in whole.into_iter().chain(own) {
            let text = format!(
                "\"{}\" is whatever version is newest when it starts",
                unpinned.package
            );
            findings.problem(&about, text, unpinned.fix);
        }
        for (name, value) in server.variables() {
            if value.contains("${") {
                let text = format!("variable {name} holds \"${{\", which stands for nothing here");
                let fix = "write the value itself, or start the server by a script that sets it";
                findings.problem(&about, text, fix);
            }
        }
        if let Some(variable) = server.bearer_variable()
            && std::env::var_os(variable).is_none_or(|value| value.is_empty())
        {
            let text = format!("variable {variable}, which holds its token, is not set");
            findings.problem(&about, text, format!("export {variable}"));
        }
        if server.prefix_words().len() > 0 {
            let prefix: Vec<&str> = server.prefix_words().collect();
            findings.ok(&about, format!("runs inside of: {}", prefix.join(" ")));
        }
    }
    Some(config)
}

/// Whether everybody may write a file, or put another one in its place.
#[cfg(unix)]
fn writable(path: &Path, about: &str, findings: &mut Findings) {
    use std::os::unix::fs::MetadataExt as _;

    const ANYBODY: u32 = 0o002;
    const STICKY: u32 = 0o1000;
    let mode = |path: &Path| std::fs::metadata(path).ok().map(|found| found.mode());
    if mode(path).is_some_and(|mode| mode & ANYBODY != 0) {
        let text = "everybody on this machine may write it";
        findings.problem(about, text, format!("chmod o-w {}", path.display()));
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if mode(folder).is_some_and(|mode| mode & ANYBODY != 0 && mode & STICKY == 0) {
        let text = "everybody on this machine may put another one in its place";
        findings.problem(about, text, format!("chmod o-w {}", folder.display()));
    }
}

#[cfg(not(unix))]
fn writable(_path: &Path, _about: &str, _findings: &mut Findings) {}
