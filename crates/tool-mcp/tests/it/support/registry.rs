//! A registry that allows everything, with tools to serve.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::{
    BoxFuture, Content, Context, Decision, HandlerError, NobodyToAsk, Permission, Policy,
    PolicyError, Progress, Request, Resource, Ruling, Tool, ToolFailure,
};
use tool_registry::{Registry, RegistryBuilder};

/// A policy that denies one tool by name and allows the rest.
struct AllBut(&'static str);

impl Policy for AllBut {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        let denied = request
            .resources
            .iter()
            .any(|resource| matches!(resource, Resource::Name(name) if name == self.0));
        let decision = if denied {
            Decision::Deny
        } else {
            Decision::Allow
        };
        Box::pin(async move { Ok(Ruling::new(decision, "the test says so")) })
    }
}

/// A registry in the making, in which everything but the tool `forbidden` is allowed.
pub(crate) fn permissive() -> RegistryBuilder {
    Registry::builder().permission(Permission::new(AllBut("forbidden"), NobodyToAsk))
}

/// A counter of calls that are running.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<()>);

impl Running {
    pub(crate) fn count(&self) -> usize {
        // One is here and one with the tool.
        Arc::strong_count(&self.0) - 2
    }
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    n: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Tools of every temper, and how many calls of `hang` are running.
pub(crate) fn tools() -> (Vec<(&'static str, Tool)>, Running) {
    let running = Running::default();
    let inside = running.clone();
    let hang = Tool::new("Never ends", move |_: Nothing, _cx: Context| {
        let running = inside.clone();
        async move {
            let _running = running;
            std::future::pending::<Result<String, HandlerError>>().await
        }
    });
    let add = Tool::new("Adds two numbers", |input: Add, _cx: Context| async move {
        Ok(Sum {
            sum: input.a + input.b,
        })
    })
    .title("Addition")
    .read_only();
    let greet = Tool::new(
        "Greets",
        |_: Nothing, _cx: Context| async move { Ok("hello") },
    );
    let large = Tool::new("Says much", |_: Nothing, _cx: Context| async move {
        Ok("x".repeat(1024 * 1024))
    });
    let count = Tool::new("Counts", |input: Steps, _cx: Context| async move {
        Ok((0..input.n).collect::<Vec<_>>())
    });
    let steps = Tool::new("Takes steps", |input: Steps, cx: Context| async move {
        for step in 0..input.n {
            cx.progress(Progress::new().message(format!("step {step}")));
        }
        Ok("arrived")
    });
    let fail = Tool::new("Fails", |_: Nothing, _cx: Context| async move {
        Err::<String, _>(HandlerError::from(
            ToolFailure::new("no such row").structured(json!({"code": 17})),
        ))
    });
    let panic = Tool::new("Panics", |_: Nothing, _cx: Context| async move {
        if true {
            panic!("with a secret");
        }
        Ok("never")
    });
    let forbidden = Tool::new("May not run", |_: Nothing, _cx: Context| async move {
        Ok("ran")
    });
    let facts = Tool::new("Tells who calls", |_: Nothing, cx: Context| async move {
        Ok(json!({
            "session": cx.session_id().map(ToString::to_string),
            "call": cx.call_id().map(ToString::to_string),
            "agent": cx.agent_id().map(ToString::to_string),
        }))
    });
    let picture = Tool::dynamic(
        "Shows a picture",
        json!({"type": "object"}),
        |_, _cx| async move {
            Ok(tool_core::Produced::content([
                Content::text("here"),
                Content::image("image/png", vec![0, 1, 2]),
            ]))
        },
    );
    let tools = vec![
        ("steps", steps.into()),
        ("add", add.into()),
        ("greet", greet.into()),
        ("large", large.into()),
        ("count", count.into()),
        ("hang", hang.into()),
        ("fail", fail.into()),
        ("panic", panic.into()),
        ("forbidden", forbidden.into()),
        ("facts", facts.into()),
        ("picture", picture),
    ];
    (tools, running)
}
