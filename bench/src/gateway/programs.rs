//! The programs that are measured, built or installed where they are not there yet.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::http::{Client, Site};
use super::process::Program;
use super::upstream::TOOL;

/// The peer over HTTP, without the parts that nobody asks for here.
const PROXY: (&str, &str) = ("mcp-proxy", "0.6.0");
/// A gateway that is there already, to be measured in place of one that is built now.
const GATEWAY: &str = "BENCH_GATEWAY";
const PATIENCE: Duration = Duration::from_secs(30);
const POLICY: &str =
    "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"call\"\nresource = \"srv/*\"\n";

/// Where the programs are, and a folder for what they need.
pub struct Programs {
    bench: PathBuf,
    tool: PathBuf,
    proxy: Result<PathBuf, String>,
    folder: TempDir,
}

/// A server over HTTP that was started here. Dropping it ends it.
pub struct Serving {
    child: Child,
    pub site: Site,
}

impl Programs {
    /// Builds the gateway, and installs its peer as far as that can be had.
    pub fn ready() -> Result<Self, Box<dyn Error>> {
        let target = target();
        let tool = match std::env::var_os(GATEWAY) {
            Some(tool) => tool.into(),
            None => build(&target)?,
        };
        let programs = Self {
            bench: std::env::current_exe()?,
            tool,
            proxy: install(&target.join("peers").join(PROXY.0)),
            folder: tempfile::tempdir()?,
        };
        programs.prepare()?;
        Ok(programs)
    }

    /// Why there is no peer over HTTP, where there is none.
    pub fn without_proxy(&self) -> Option<&str> {
        self.proxy.as_ref().err().map(String::as_str)
    }

    /// The server itself.
    pub fn server(&self) -> Command {
        self.itself("--upstream")
    }

    /// The server behind a relay.
    pub fn relay(&self) -> Command {
        let mut relay = self.itself("--relay");
        relay.arg(&self.bench).arg("--upstream");
        relay
    }

    /// The server behind the gateway, over its standard streams.
    pub fn gateway(&self) -> Command {
        let mut gateway = Command::new(&self.tool);
        gateway.arg("serve").current_dir(self.folder.path());
        gateway.args(["--mcp-config", "mcp.json", "--policy", "policy.toml"]);
        gateway.args(["--root", "root", "--state", "state"]);
        gateway
    }

    /// The server itself, over HTTP.
    pub fn http_server(&self) -> Result<Serving, Box<dyn Error>> {
        let mut child = self
            .itself("--upstream-http")
            .stdout(Stdio::piped())
            .spawn()?;
        let port = first_line(&mut child)?.trim().parse()?;
        Ok(Serving::new(child, port, "/", None, TOOL))
    }

    /// The server behind the gateway, over HTTP, with a token as it is by default.
    pub fn http_gateway(&self) -> Result<Serving, Box<dyn Error>> {
        let mut child = self
            .gateway()
            .args(["--http", "127.0.0.1:0", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let said: Value = serde_json::from_str(&first_line(&mut child)?)?;
        let port = said["url"].as_str().and_then(|url| {
            let (_, port) = url.strip_suffix("/mcp")?.rsplit_once(':')?;
            port.parse().ok()
        });
        let port = port.ok_or("the gateway did not say where it is")?;
        let token = said["token"].as_str().map(str::to_owned);
        Ok(Serving::new(child, port, "/mcp", token, "srv__add"))
    }

    /// The server behind the peer. `None` where there is no peer.
    pub fn http_proxy(&self) -> Result<Option<Serving>, Box<dyn Error>> {
        let Ok(proxy) = &self.proxy else {
            return Ok(None);
        };
        let port = std::net::TcpListener::bind("127.0.0.1:0")?
            .local_addr()?
            .port();
        let config = format!(
            "[proxy]\nname = \"peer\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\
             [observability]\nlog_level = \"error\"\n\
             [[backends]]\nname = \"srv\"\ntransport = \"stdio\"\ncommand = {}\nargs = [\"--upstream\"]\n",
            json!(self.bench),
        );
        let path = self.folder.path().join("proxy.toml");
        fs::write(&path, config)?;
        let child = Command::new(proxy)
            .arg("--config")
            .arg(path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Some(Serving::new(child, port, "/", None, "srv/add")))
    }

    fn itself(&self, role: &str) -> Command {
        let mut command = Command::new(&self.bench);
        command.arg(role);
        command
    }

    fn prepare(&self) -> Result<(), Box<dyn Error>> {
        let folder = self.folder.path();
        fs::create_dir(folder.join("root"))?;
        fs::write(folder.join("policy.toml"), POLICY)?;
        let server = json!({"command": self.bench, "args": ["--upstream"]});
        let config = json!({"mcpServers": {"srv": server}});
        Ok(fs::write(folder.join("mcp.json"), config.to_string())?)
    }
}

impl Serving {
    fn new(child: Child, port: u16, path: &'static str, token: Option<String>, tool: &str) -> Self {
        let tool = tool.to_owned();
        let site = Site {
            port,
            path,
            token,
            tool,
        };
        Self { child, site }
    }

    /// A client, once the server is there and knows its tools.
    pub fn client(&self, connections: usize) -> Result<Client, Box<dyn Error>> {
        let start = Instant::now();
        loop {
            match Client::connect(&self.site, connections) {
                Err(error) if start.elapsed() > PATIENCE => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
                client => return client,
            }
        }
    }

    pub fn program(&self) -> Program {
        Program::of(self.child.id())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Whoever has something behind it is told, and ends it.
        let told = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        let start = Instant::now();
        while told.is_ok() && start.elapsed() < Duration::from_secs(5) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn first_line(child: &mut Child) -> Result<String, Box<dyn Error>> {
    let stdout = child.stdout.take().ok_or("a process has no output")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    Ok(line)
}

/// Builds the gateway as it is now.
fn build(target: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let built = cargo()
        .args(["build", "--release", "--quiet", "--package", "tool-cli"])
        .arg("--manifest-path")
        .arg(root().join("Cargo.toml"))
        .stdout(Stdio::null())
        .status()?;
    match built.success() {
        true => Ok(target.join("release").join("tool")),
        false => Err("the gateway could not be built".into()),
    }
}

/// Installs the peer, unless that version is there. What is missing otherwise is the error.
fn install(folder: &Path) -> Result<PathBuf, String> {
    let (name, version) = PROXY;
    let program = folder.join("bin").join(name);
    let known = fs::read_to_string(folder.join(".crates.toml")).unwrap_or_default();
    if program.exists() && known.contains(&format!("\"{name} {version} ")) {
        return Ok(program);
    }
    let installed = cargo()
        .args(["install", name, "--version", version, "--locked", "--quiet"])
        .args(["--no-default-features", "--root"])
        .arg(folder)
        .stdout(Stdio::null())
        .status();
    match installed {
        Ok(status) if status.success() => Ok(program),
        _ => Err(format!("{name} {version} could not be installed")),
    }
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => target.into(),
        None => root().join("target"),
    }
}
