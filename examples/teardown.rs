//! What is cleaned up after a call, a run, a session and at the end.
//!
//! ```text
//! cargo run -p examples --example teardown
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::error::Error;
use std::future::pending;

use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::core::{Call, Facts, Registered, TeardownScope};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::registry::Door;
use tool_runtime::{Context, HandlerError, Runtime, Tool};

#[derive(Deserialize, JsonSchema)]
struct Open {
    /// The page to open.
    page: String,
}

fn open() -> Tool {
    Tool::new("Open a page", |open: Open, cx: Context| async move {
        // One browser for the whole session, however many pages are opened.
        let browser = later(&cx, TeardownScope::Session, "browser", "close the browser")?;
        if let Registered::Reused { times } = browser {
            println!("(the browser is open already, asked for {times} times)");
        }
        later(&cx, TeardownScope::Run, "log", "send the log of the run")?;
        later(&cx, TeardownScope::Shutdown, "driver", "stop the driver")?;
        // Of the two, the one registered last runs first.
        later(&cx, TeardownScope::Call, "page", "close the page")?;
        later(&cx, TeardownScope::Call, "form", "empty the form")?;
        if open.page == "endless" {
            pending::<()>().await;
        }
        Ok(format!("opened {}", open.page))
    })
    .into()
}

/// Registers a cleanup that says what it does.
fn later(
    cx: &Context,
    scope: TeardownScope,
    key: &str,
    what: &'static str,
) -> Result<Registered, HandlerError> {
    let cleanup = move || async move { println!("  {what}") };
    // Fails where the scope is not honoured, or the call does not say which run it belongs to.
    Ok(cx.on_teardown(scope, key, cleanup)?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let rules = Layer::new("example", [Rule::allow("call", "*")])?;
    let runtime = Runtime::builder().rules(rules).build().await?;
    let _registered = runtime.register([("open", open())])?;
    let request = runtime.snapshot();
    let call = |page: &str| Call::new("open", format!(r#"{{"page": "{page}"}}"#));
    let facts = Facts::new().session("s1").run("r1");

    for page in ["news", "mail"] {
        let settled = request.settle(call(page), &facts).await;
        println!("{}", settled.text());
    }

    // A call that is dropped cannot clean up at that moment: nothing runs unless it is awaited.
    let mut dropped = Box::pin(request.settle(call("endless"), &facts).into_future());
    assert!(dropped.as_mut().now_or_never().is_none());
    drop(dropped);
    println!("dropped a call; what it left:");
    runtime.registry().clean_up().await;

    println!("the run ends:");
    runtime.registry().end_run(&facts).await;
    println!("the session ends:");
    for report in runtime.registry().end_session(&facts).await {
        println!("  ({}: {:?})", report.tool, report.end);
    }

    // A door that cannot honour a scope says so when it is asked for.
    let settled = request.settle(call("news"), &facts).door(Door::Mcp).await;
    println!("by MCP: {}", settled.outcome.as_str());

    println!("shutdown:");
    runtime.shutdown().await;
    Ok(())
}
