//! What is kept of calls while their client is about to call again.

use serde_json::{Value, json};
use tool_core::{Content, Decision, Produced, Tool, ToolFailure};
use tool_mcp::{Ask, CallingClient, Limits};
use tool_registry::{Registration, Registry};

use crate::import_rounds::{nothing, settled, with_tool};
use crate::support::agreeing::{Agreeing, Speaks};
use crate::support::eventually;
use crate::support::gateway::{Gateway, passed_on};
use crate::support::imported::Imported;
use crate::support::peer::{Peer, modern};

const CALL: &str = "tools/call";

/// A tool that is told something long, and asks while a call of the server is on its way.
fn asks_meanwhile(registry: Registry, told: Option<String>) -> Tool {
    Tool::dynamic("Calls and asks", nothing(), move |_, _| {
        let (registry, told) = (registry.clone(), told.clone());
        async move {
            let client = CallingClient::current().ok_or(ToolFailure::new("nobody"))?;
            if let Some(told) = told {
                let field = json!({"type": "string", "default": told});
                let schema = json!({"type": "object", "properties": {"long": field}});
                let asked = client.ask("long", Ask::form("How long?", schema)).await;
                asked.map_err(ToolFailure::from)?;
            }
            let call = settled(&registry, "srv__held", json!({}));
            let form = [("who".to_owned(), Ask::form("Really?", nothing()))];
            let (held, asked) = tokio::join!(call, client.ask_all(form));
            asked.map_err(ToolFailure::from)?;
            Ok(Produced::content([Content::text(held)]))
        }
    })
}

async fn holding(told: Option<String>) -> (Gateway, Registration) {
    let srv = Imported::new("holding").await;
    with_tool(srv, |registry| asks_meanwhile(registry, told)).await
}

async fn is_given_up(gateway: &Gateway) {
    eventually("the call is given up", || {
        gateway.srv.cancellations().len() == 1
    })
    .await;
    // The server reads in its own time, and what was sent first first.
    assert_eq!(gateway.calls("held"), 1);
}

#[tokio::test]
async fn a_round_that_ends_with_an_error_keeps_nothing_for_another_one() {
    let (gateway, _registration) = holding(None).await;
    // It does not say that it can be asked.
    let mut peer = Peer::unconnected(&gateway.server);
    let call = modern(json!({"name": "composed"}));
    let answer = peer.ask(1, CALL, call).await;
    assert_eq!(answer["error"]["code"], -32021, "{answer}");
    is_given_up(&gateway).await;
}

#[tokio::test]
async fn a_round_after_which_nothing_can_be_carried_on_keeps_nothing_for_another_one() {
    let (gateway, _registration) = holding(Some("x".repeat(1024 * 1024))).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    let answer = client.ask(CALL, json!({"name": "composed"})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let text = answer["error"]["message"].as_str();
    assert!(
        text.is_some_and(|text| text.contains("to carry on")),
        "{answer}"
    );
    is_given_up(&gateway).await;
}

#[tokio::test]
async fn an_answer_for_which_there_is_no_room_is_lost_and_its_call_is_not_made_again() {
    // One more than can be kept, and one that asks after it.
    const CALLS: usize = 18;
    let srv = Imported::start("stateless", Limits::default().retries(0), |builder| {
        builder.inputs(passed_on(Decision::Allow))
    });
    let (gateway, _registration) = with_tool(srv, |registry| {
        Tool::dynamic("Calls many times", nothing(), move |_, _| {
            let registry = registry.clone();
            async move {
                let mut answers = Vec::new();
                for n in 0..CALLS {
                    let answer = settled(&registry, "srv__ask", json!({ "n": n })).await;
                    answers.push(Content::text(answer));
                }
                Ok(Produced::content(answers))
            }
        })
    })
    .await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    let answer = client.ask(CALL, json!({"name": "composed"})).await;
    let content = answer["result"]["content"].as_array();
    let content = content.unwrap_or_else(|| panic!("{answer}"));
    let lost = |answer: &Value| {
        answer["text"] == "server srv is not available; the call may have run in part"
    };
    let lost: Vec<_> = content.iter().map(lost).collect();
    let mut expected = [false; CALLS];
    expected[CALLS - 2] = true;
    assert_eq!(lost, expected, "{answer}");
    assert_eq!(client.asked.len(), CALLS);
    // Each once for the question, and once with the answer.
    assert_eq!(gateway.calls("ask"), 2 * CALLS);
}
