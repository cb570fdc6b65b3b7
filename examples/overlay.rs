//! Registering is a scope: a later registration overlays an earlier one, and dropping it brings the
//! earlier one back. A request keeps what it saw.
//!
//! ```text
//! cargo run -p examples --example overlay
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::error::Error;

use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::core::{Call, Facts, Namespace, Source};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::registry::{Registrar, Registration, RegistrationError, Snapshot};
use tool_runtime::{Runtime, Tool};

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Who to greet.
    name: String,
}

fn greet(greeting: &'static str) -> Tool {
    Tool::new("Greet somebody", move |input: Greet, _cx| async move {
        Ok(format!("{greeting}, {}!", input.name))
    })
    .read_only()
    .into()
}

/// A plugin is given a registrar: it can bring tools, and neither list nor call any.
fn polite_plugin(registrar: &Registrar) -> Result<Registration, RegistrationError> {
    registrar.register([("greet", greet("How do you do"))])
}

async fn show(request: &Snapshot, name: &str) {
    let call = Call::new(name, r#"{"name": "Ada"}"#);
    let settled = request.settle(call, &Facts::new()).await;
    println!("{name}: {}", settled.text());
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let rules = Layer::new("example", [Rule::allow("call", "*")])?;
    let runtime = Runtime::builder().rules(rules).build().await?;

    let _host = runtime.register([("greet", greet("Hello"))])?;
    let before = runtime.snapshot();

    // The same name from the same source overlays: tests and hosts replace a tool for a while.
    let shouting = runtime.register([("greet", greet("HELLO"))])?;
    show(&runtime.snapshot(), "greet").await;
    // A request that began before calls what it was shown.
    show(&before, "greet").await;

    drop(shouting);
    show(&runtime.snapshot(), "greet").await;

    // A plugin's tools have names of their own, whatever the host calls its tools.
    let source = Source::Plugin(Namespace::new("polite")?);
    let plugin = polite_plugin(&runtime.registry().registrar(source))?;
    for (_identity, name) in plugin.entries() {
        show(&runtime.snapshot(), name.as_str()).await;
    }

    // Gone with its registration, and with what it registered.
    drop(plugin);
    show(&runtime.snapshot(), "polite__greet").await;
    Ok(())
}
