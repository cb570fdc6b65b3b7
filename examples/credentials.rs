//! Tools that need a secret: the host's own, and one that a person has to consent to first.
//!
//! ```text
//! cargo run -p examples --example credentials
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tool_runtime::core::{
    BoxFuture, Call, Consent, Credential, CredentialError, CredentialMode, CredentialNeed,
    Credentials, Facts, Identification, Outcome, Verdict,
};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::registry::Approvals;
use tool_runtime::{Context, HandlerError, Runtime, Tool};

/// Hands out secrets. A host asks its vault, or a service for an access token.
#[derive(Clone, Default)]
struct Vault {
    consented: Arc<AtomicBool>,
}

impl Credentials for Vault {
    fn acquire<'a>(
        &'a self,
        facts: &'a Facts,
        need: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        let person = facts
            .identification()
            .and_then(|who| who.principal.as_deref());
        let answer = match (need.mode, need.service.as_str(), person) {
            (CredentialMode::Machine, "weather", _) => Ok(Credential::new("key-of-the-host")),
            (CredentialMode::User, "calendar", Some(person)) => {
                if self.consented.load(Ordering::SeqCst) {
                    Ok(Credential::new(format!("token-of-{person}")))
                } else {
                    let consent = Consent::new("https://login.example.com/?state=once");
                    Err(CredentialError::consent_required(consent))
                }
            }
            // Operators read this, no model does.
            _ => Err(CredentialError::new(
                "the vault has nothing for this caller",
            )),
        };
        Box::pin(async move { answer })
    }
}

fn tool(description: &str, need: CredentialNeed) -> Tool {
    let nothing = json!({"type": "object", "additionalProperties": false});
    Tool::dynamic(
        description,
        nothing,
        |_input: Value, cx: Context| async move {
            let credential = cx
                .credential()
                .ok_or_else(|| HandlerError::defect("none"))?;
            // Handed to the service and to nothing else. Printing it shows nothing of it.
            println!(
                "(calling with {} bytes: {credential:?})",
                credential.expose().len()
            );
            Ok(json!("done"))
        },
    )
    .read_only()
    .needs(need)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let vault = Vault::default();
    let provider = vault.clone();
    let rules = Layer::new("example", [Rule::allow("call", "*")])?;
    let runtime = Runtime::builder()
        .rules(rules)
        .registry(|registry| registry.credentials(provider))
        .build()
        .await?;
    let users = |service| CredentialNeed::new(service).mode(CredentialMode::User);
    let _registered = runtime.register([
        (
            "weather",
            tool("Tell the weather", CredentialNeed::new("weather")),
        ),
        (
            "agenda",
            tool("Read the calendar", users("calendar").scopes(["read"])),
        ),
        ("mail", tool("Read mail", users("mail"))),
    ])?;

    let request = runtime.snapshot();
    let facts = Facts::new().identity(Identification::principal("ada"));
    let settle = |name: &str| {
        let settling = request.settle(Call::new(name, "{}"), &facts);
        settling.approvals(Approvals::Suspend)
    };
    let weather = settle("weather").await;
    println!("weather: {}", weather.text());

    // Nobody has it: the model reads that, the operator why.
    if let Outcome::Refused(refusal) = settle("mail").await.outcome {
        println!("mail: {refusal}");
        println!("for operators: {}", refusal.operator());
    }

    // A person must consent first. The call waits, and what is serialised has no address in it.
    let Outcome::Suspended(suspension) = settle("agenda").await.outcome else {
        return Err("the call did not wait".into());
    };
    let consent = suspension.consent.as_ref().ok_or("there is an address")?;
    println!("agenda waits for {}", suspension.gate);
    println!("show ada: {}", consent.expose());
    let json = serde_json::to_string(&suspension)?;
    println!(
        "in the JSON: {}, printed: {consent:?}",
        json.contains("login")
    );

    vault.consented.store(true, Ordering::SeqCst);
    let resumed = request.resume(*suspension, Verdict::Approve, &facts).await;
    println!("agenda: {}", resumed.text());
    Ok(())
}
