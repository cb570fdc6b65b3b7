//! What becomes of arguments on their way to a tool.

use serde_json::Value;
use tool_runtime::Tool;
use tool_runtime::core::{
    Arguments, BoxFuture, Call, Decision, Facts, NobodyToAsk, Permission, Policy, PolicyError,
    Request, Ruling, Settlement,
};
use tool_runtime::registry::{RegistrationError, Registry};

/// Settles a call, as every call is settled, by a tool that gives back what it is given. Injected
/// keys are those that a client adds.
pub(crate) async fn settle(
    schema: Value,
    arguments: Arguments,
    injected: &[String],
) -> Result<Settlement, RegistrationError> {
    let registry = Registry::builder()
        .permission(Permission::new(Anything, NobodyToAsk))
        .injected_keys(injected)
        .build();
    let mirror = Tool::dynamic(
        "Gives back what it is given",
        schema,
        |input: Value, _| async move { Ok(input) },
    );
    let _mirror = registry.register([("tool", mirror)])?;
    let call = Call::new("tool", arguments);
    Ok(registry.snapshot().settle(call, &Facts::new()).await)
}

/// Lets everything run: nothing but the arguments is on trial.
struct Anything;

impl Policy for Anything {
    fn decide<'a>(&'a self, _: &'a Request<'a>) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async { Ok(Ruling::new(Decision::Allow, "arguments are on trial")) })
    }
}
