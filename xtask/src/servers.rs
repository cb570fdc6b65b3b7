//! Servers that other people wrote, imported by the gateway and compared with themselves.
//!
//! Each is started directly and behind `tool serve`; what it lists and what its calls give has to be
//! the same, to a client with a handshake and to one without.

mod comparison;
mod kinds;
mod session;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Error, Invocation, Peers, Verdict, Workspace, say};
use comparison::{Listed, bare_result};
use kinds::{KINDS, Kind};
use session::{Era, Session};

/// How long the gateway may take until the last server is there. The slowest takes 11 s by itself.
const PATIENCE: Duration = Duration::from_secs(90);

/// What became of one server.
struct Row {
    name: &'static str,
    /// How many tools it lists by itself, and the era that was found.
    direct: String,
    /// How it is through the gateway, to clients of both eras.
    through: Vec<String>,
    fine: bool,
}

/// Compares every server with itself behind the gateway.
///
/// # Errors
/// When the pins cannot be read, or the gateway cannot be built or started.
pub fn real_servers(workspace: &Workspace, must: bool) -> Result<Verdict, Error> {
    let servers = Peers::servers(workspace)?;
    let tried = servers.install()?;
    for one in &tried {
        say(one.to_string());
    }
    if let Some(missing) = tried.iter().find(|one| !one.is_ready()) {
        let missing = missing.to_string();
        return match must {
            true => Err(Error::new(missing)),
            false => Ok(Verdict::Skipped(missing)),
        };
    }
    let cargo = Invocation::cargo(workspace.root(), "build -p tool-cli");
    if !cargo.run()? {
        return Err(Error::new("the gateway could not be built"));
    }
    let name = format!("tool{}", std::env::consts::EXE_SUFFIX);
    let gateway = workspace.target()?.join("debug").join(name);
    let place = Place::fresh(workspace, servers.folder())?;
    let rows = compare(&gateway, &place)?;
    say(table(&rows));
    Ok(Verdict::of(rows.iter().all(|row| row.fine)))
}

/// Where the servers are and what they work on.
struct Place {
    node: PathBuf,
    python: PathBuf,
    fakes: PathBuf,
    /// A repository with one file in it, made anew for each run.
    folder: PathBuf,
}

impl Place {
    fn fresh(workspace: &Workspace, installed: &Path) -> Result<Self, Error> {
        let folder = installed.join("work");
        let failed =
            |error| Error::because(format!("{} could not be made", folder.display()), error);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(failed)?;
        }
        std::fs::create_dir_all(&folder).map_err(failed)?;
        std::fs::write(folder.join("notes.txt"), "one\ntwo\n").map_err(failed)?;
        for words in [
            "init --quiet --initial-branch main",
            "add notes.txt",
            "-c user.name=Test -c user.email=test@example.com commit --quiet -m First",
        ] {
            let git = Invocation::new("git", &folder).args(words.split(' '));
            if !git.unshown().run()? {
                return Err(Error::new(
                    "the repository of the servers could not be made",
                ));
            }
        }
        Ok(Self {
            node: installed.join("node/node_modules"),
            python: installed.join("python/bin"),
            fakes: workspace.root().join("tests/servers/fake.py"),
            folder,
        })
    }

    fn command(&self, words: &[String]) -> Command {
        let mut words = words.iter();
        let mut command = Command::new(words.next().map_or("", String::as_str));
        command.args(words).current_dir(&self.folder);
        command
    }
}

fn compare(gateway: &Path, place: &Place) -> Result<Vec<Row>, Error> {
    let mut rows: Vec<Row> = Vec::new();
    let mut expected = Vec::new();
    for kind in KINDS {
        let words = (kind.words)(place);
        let direct = direct(kind, place, &words);
        let (direct, own) = match direct {
            Ok((era, own)) => (
                format!("{} tools, {}", own.tools.len(), era.word()),
                Some(own),
            ),
            Err(error) => (error.chain(), None),
        };
        rows.push(Row {
            name: kind.name,
            direct,
            through: Vec::new(),
            fine: own.is_some(),
        });
        expected.push(own);
    }
    let servers: serde_json::Map<String, Value> = KINDS
        .iter()
        .map(|kind| {
            let words = (kind.words)(place);
            let (command, args) = words
                .split_first()
                .map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
            let entry = json!({"command": command, "args": args});
            (kind.name.to_owned(), entry)
        })
        .collect();
    let write = |name: &str, text: String| {
        let path = place.folder.join(name);
        std::fs::write(&path, text).map_err(|error| {
            Error::because(format!("{} could not be written", path.display()), error)
        })?;
        Ok::<_, Error>(path)
    };
    // Outside of what the servers list.
    let config = write(
        ".git/servers.json",
        json!({"mcpServers": servers}).to_string(),
    )?;
    let rules =
        "version = 1\n\n[[rule]]\neffect = \"allow\"\naction = \"call\"\nresource = \"*\"\n";
    let policy = write(".git/policy.toml", rules.to_owned())?;
    for era in [Era::Handshake, Era::Stateless] {
        let mut command = Command::new(gateway);
        command
            .arg("--mcp-config")
            .arg(&config)
            .arg("--policy")
            .arg(&policy)
            .arg("--state")
            .arg(place.folder.join(format!(".git/state-{}", era.word())))
            .arg("serve")
            .current_dir(&place.folder);
        let mut session = Session::start(&mut command, era)?;
        let tools = all_there(&mut session)?;
        for ((kind, own), row) in KINDS.iter().zip(&expected).zip(&mut rows) {
            let Some(own) = own else { continue };
            let found = through(kind, place, &tools, &mut session);
            let difference = found.map(|found| found.difference(own));
            let (word, fine) = match difference {
                Ok(None) => ("same".to_owned(), true),
                Ok(Some(difference)) => (difference, false),
                Err(error) => (error.chain(), false),
            };
            row.through.push(word);
            row.fine &= fine;
        }
    }
    Ok(rows)
}

/// A server by itself: the era that it speaks, what it lists and what its calls give.
fn direct(kind: &Kind, place: &Place, words: &[String]) -> Result<(Era, Listed), Error> {
    let era = match Session::discover(&mut place.command(words)) {
        true => Era::Stateless,
        false => Era::Handshake,
    };
    let mut session = Session::start(&mut place.command(words), era)?;
    let mut listed = Listed::of(session.tools()?, "");
    for (tool, arguments) in (kind.calls)(place) {
        listed.results.push(call(&mut session, tool, &arguments)?);
    }
    Ok((era, listed))
}

/// The same of a server behind the gateway.
fn through(
    kind: &Kind,
    place: &Place,
    tools: &[Value],
    session: &mut Session,
) -> Result<Listed, Error> {
    let prefix = format!("{}__", kind.name);
    let mut listed = Listed::of(tools.to_vec(), &prefix);
    for (tool, arguments) in (kind.calls)(place) {
        let name = format!("{prefix}{tool}");
        listed.results.push(call(session, &name, &arguments)?);
    }
    Ok(listed)
}

fn call(session: &mut Session, tool: &str, arguments: &Value) -> Result<Value, Error> {
    let params = json!({"name": tool, "arguments": arguments});
    Ok(bare_result(session.ask("tools/call", params)?))
}

/// The tools of the gateway, once every server has some there.
fn all_there(session: &mut Session) -> Result<Vec<Value>, Error> {
    let began = Instant::now();
    loop {
        let tools = session.tools()?;
        let is_there = |kind: &Kind| {
            let prefix = format!("{}__", kind.name);
            let named = |tool: &Value| {
                tool.get("name")?
                    .as_str()?
                    .starts_with(&prefix)
                    .then_some(())
            };
            tools.iter().any(|tool| named(tool).is_some())
        };
        // Who is not there by then is shown as missing.
        if KINDS.iter().all(is_there) || began.elapsed() > PATIENCE {
            return Ok(tools);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn table(rows: &[Row]) -> String {
    let name = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let direct = rows.iter().map(|row| row.direct.len()).max().unwrap_or(0);
    let mut text = format!(
        "\n{:name$}  {:direct$}  through the gateway: with a handshake, without\n",
        "server", "by itself"
    );
    for row in rows {
        let through = row.through.join(", ");
        let line = format!("{:name$}  {:direct$}  {through}", row.name, row.direct);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let fine = rows.iter().filter(|row| row.fine).count();
    text.push_str(&format!("{fine} of {} servers are the same", rows.len()));
    text
}
