//! Tools that the tests register.

use serde_json::{Value, json};
use tool_core::{
    Arguments, Call, Context, Facts, HandlerError, InvalidArguments, Issue, Outcome, Refusal,
    Settlement, Tool, TypedTool,
};
use tool_registry::Registry;

use crate::ports::{Count, open};

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Say {
    /// What to say.
    pub(crate) text: String,
}

/// Takes no argument.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Empty {}

/// Says what it is told.
pub(crate) fn echo() -> TypedTool<Say, String> {
    Tool::new(
        "Says what it is told",
        |input: Say, _cx: Context| async move { Ok(input.text) },
    )
}

/// Takes anything, and says which of several it is.
pub(crate) fn fixed(text: &'static str) -> Tool {
    Tool::dynamic(
        "Says one thing",
        json!({"type": "object"}),
        move |_, _| async move { Ok(json!(text)) },
    )
}

/// Takes what a schema takes, gives it back, and counts how often it ran.
pub(crate) fn mirror(schema: Value, runs: &Count) -> Tool {
    let runs = runs.clone();
    Tool::dynamic(
        "Gives back what it is given",
        schema,
        move |input: Value, _| {
            runs.add();
            async move { Ok(input) }
        },
    )
}

/// Runs a closure over any object.
pub(crate) fn run<F, Fut>(handler: F) -> Tool
where
    F: Fn(Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Value, HandlerError>> + Send + 'static,
{
    Tool::dynamic(
        "Runs the test's own code",
        json!({"type": "object"}),
        move |_, cx| handler(cx),
    )
}

/// Settles one call of one tool in a registry of its own that allows everything.
pub(crate) async fn settle(tool: impl Into<Tool>, arguments: &str) -> Settlement {
    let registry = open().build();
    let _tool = registry.register([("tool", tool.into())]).unwrap();
    let call = Call::new("tool", arguments).id("call_1");
    registry.snapshot().settle(call, &Facts::new()).await
}

/// The refusal of a settlement that must be one.
#[track_caller]
pub(crate) fn refusal(settlement: &Settlement) -> &Refusal {
    match &settlement.outcome {
        Outcome::Refused(refusal) => refusal,
        other => panic!("expected a refusal, got {}", other.as_str()),
    }
}

/// The issues of a settlement that must be refused for its arguments.
#[track_caller]
pub(crate) fn invalid(settlement: &Settlement) -> &InvalidArguments {
    match refusal(settlement) {
        Refusal::InvalidArguments(invalid) => invalid,
        other => panic!("expected invalid arguments, got {}", other.kind()),
    }
}

/// The value that a completed call gave back.
#[track_caller]
pub(crate) fn output(settlement: &Settlement) -> &Value {
    assert_eq!(
        settlement.outcome.as_str(),
        "completed",
        "{}",
        settlement.text()
    );
    settlement.output().unwrap()
}

/// One call by name, without arguments.
pub(crate) async fn call(registry: &Registry, name: &str) -> Settlement {
    registry
        .snapshot()
        .settle(Call::new(name, "{}"), &Facts::new())
        .await
}

/// Settles a call of a tool that takes any object, and returns how often it ran.
pub(crate) async fn any(arguments: impl Into<Arguments>) -> (Settlement, usize) {
    against(json!({"type": "object"}), arguments).await
}

/// Settles a call of a tool that takes what a schema takes, and returns how often it ran.
pub(crate) async fn against(schema: Value, arguments: impl Into<Arguments>) -> (Settlement, usize) {
    let (registry, runs) = (open().build(), Count::default());
    let _tool = registry
        .register([("tool", mirror(schema, &runs))])
        .unwrap();
    let call = Call::new("tool", arguments);
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    (settled, runs.get())
}

/// The one issue of a settlement that must be refused for it.
#[track_caller]
pub(crate) fn one_issue(settled: &Settlement) -> &Issue {
    let issues = invalid(settled).issues();
    assert_eq!(issues.len(), 1, "{issues:?}");
    &issues[0]
}
