//! Calls of imported tools that take several rounds, as their client is asked by the result.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use tool_core::{BoxFuture, Call, Content, Decision, Facts, Produced, Tool, ToolFailure};
use tool_mcp::{Ask, AskKind, CallingClient, InputAnswer, Inputs, Limits, Server, WantedInput};
use tool_registry::Registry;

use crate::support::agreeing::{Agreeing, Speaks};
use crate::support::eventually;
use crate::support::gateway::{Gateway, passed_on};
use crate::support::imported::Imported;

const CALL: &str = "tools/call";

/// Has its answers from nobody, or says that there are none.
#[derive(Default)]
struct Silent {
    refuses: bool,
    asked: Notify,
}

impl Inputs for Silent {
    fn kinds<'a>(&'a self, _server: &'a str) -> BoxFuture<'a, Vec<AskKind>> {
        Box::pin(async { vec![AskKind::Form] })
    }

    fn provide<'a>(
        &'a self,
        _wanted: &'a WantedInput,
    ) -> BoxFuture<'a, Result<InputAnswer, String>> {
        Box::pin(async {
            self.asked.notify_one();
            match self.refuses {
                true => Err("nobody is there".to_owned()),
                false => std::future::pending().await,
            }
        })
    }
}

pub(crate) async fn settled(registry: &Registry, tool: &str, arguments: Value) -> String {
    let call = Call::new(tool, arguments);
    let settling = registry.snapshot().settle(call, &Facts::new());
    settling.await.text()
}

pub(crate) fn nothing() -> Value {
    json!({"type": "object"})
}

/// Serves what is imported with a tool that makes calls of it.
pub(crate) async fn with_tool(
    srv: Imported,
    tool: impl FnOnce(Registry) -> Tool,
) -> (Gateway, tool_registry::Registration) {
    let gateway = Gateway::serving(srv).await;
    let registry = &gateway.srv.registry;
    let registration = registry.register([("composed", tool(registry.clone()))]);
    (gateway, registration.expect("well defined"))
}

fn asks_silent(mode: &str, silent: &Arc<Silent>) -> Imported {
    let inputs = Arc::clone(silent);
    let limits = Limits::default().retries(0);
    Imported::start(mode, limits, |builder| builder.inputs(inputs))
}

async fn composed(server: &Server) -> (String, Agreeing) {
    let mut client = Agreeing::of(server, Speaks::Stateless).await;
    let answer = client.ask(CALL, json!({"name": "composed"})).await;
    let text = answer["result"]["content"][0]["text"].as_str();
    (
        text.unwrap_or_else(|| panic!("{answer}")).to_owned(),
        client,
    )
}

#[tokio::test]
async fn an_answer_to_the_hosts_own_question_is_none_to_a_servers_of_the_same_name() {
    let srv = Imported::start("stateless", Limits::default().retries(0), |builder| {
        builder.inputs(passed_on(Decision::Allow))
    });
    let (gateway, _registration) = with_tool(srv, |registry| {
        Tool::dynamic("Asks and calls", nothing(), move |_, _| {
            let registry = registry.clone();
            async move {
                let client = CallingClient::current().ok_or(ToolFailure::new("nobody"))?;
                let form = Ask::form("Really?", json!({"type": "object", "properties": {}}));
                let own = client.ask("who", form).await.map_err(ToolFailure::from)?;
                let told = settled(&registry, "srv__ask", json!({})).await;
                let again = client.ask("who", Ask::form("Really?", nothing())).await;
                // The host's own answer is still there.
                assert_eq!(again.ok(), Some(own));
                Ok(Produced::content([Content::text(told)]))
            }
        })
    })
    .await;
    let (text, client) = composed(&gateway.server).await;
    let messages: Vec<_> = client
        .asked
        .iter()
        .map(|(_, asked)| &asked["message"])
        .collect();
    assert_eq!(messages, ["Really?", "srv asks: Who?"]);
    // The server has its answer under its own name.
    let told: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(told[0]["who"]["action"], "accept");
}

#[tokio::test]
async fn questions_are_answered_one_in_each_round_and_none_is_asked_again() {
    for mode in ["conformance-stateless", "conformance-handshake"] {
        let gateway = Gateway::of(mode, Decision::Allow).await;
        let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
        let tool = "test_input_required_result_multiple_inputs";
        let call = json!({"name": format!("srv__{tool}")});
        let mut answer = client.exchange(CALL, call.clone()).await;
        let mut rounds = 0;
        while answer["result"]["resultType"] == "input_required" {
            rounds += 1;
            assert!(rounds < 10, "{mode}: {answer}");
            answer = client.round(CALL, &call, &answer, 1).await;
        }
        assert_eq!(answer["result"]["isError"], false, "{mode}: {answer}");
        assert_eq!(rounds, 3, "{mode}");
        let mut asked: Vec<_> = client.asked.iter().map(|(method, _)| method).collect();
        asked.sort();
        let each = ["elicitation/create", "roots/list", "sampling/createMessage"];
        assert_eq!(asked, each, "{mode}");
    }
}

#[tokio::test]
async fn a_call_that_goes_on_is_counted_once() {
    for mode in ["conformance-stateless", "conformance-handshake"] {
        let overlay = json!({"calls": {"most": 1, "atOnce": 1}});
        let srv = Imported::start_dressed(mode, overlay, |builder| {
            builder.inputs(passed_on(Decision::Allow))
        });
        let gateway = Gateway::serving(srv).await;
        let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
        let call = json!({"name": "srv__test_input_required_result_multi_round"});
        let answer = client.ask(CALL, call.clone()).await;
        let text = &answer["result"]["content"][0]["text"];
        assert_eq!(text, "Ada likes Ada", "{mode}: {answer}");
        // Another one is another one.
        let answer = client.ask(CALL, call).await;
        let text = answer["result"]["content"][0]["text"].as_str();
        let over = "server srv takes at most 1 calls in 60 s and has had them";
        assert!(text.is_some_and(|text| text.starts_with(over)), "{answer}");
    }
}

#[tokio::test]
async fn a_round_goes_on_uncounted_once_however_often_its_state_is_sent() {
    let overlay = json!({"calls": {"most": 1}});
    let srv = Imported::start_dressed("stateless", overlay, |builder| {
        builder.inputs(passed_on(Decision::Allow))
    });
    let gateway = Gateway::serving(srv).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    let call = json!({"name": "srv__ask", "arguments": {}});
    let question = client.exchange(CALL, call.clone()).await;
    let answer = client.round(CALL, &call, &question, 1).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    for _ in 0..2 {
        let again = client.round(CALL, &call, &question, 1).await;
        let text = again["result"]["content"][0]["text"].as_str();
        let over = "server srv takes at most 1 calls in 60 s and has had them";
        assert!(text.is_some_and(|text| text.starts_with(over)), "{again}");
    }
    assert_eq!(gateway.calls("ask"), 2);
}

#[tokio::test]
async fn a_call_of_which_a_round_was_sent_is_not_said_not_to_have_been_sent() {
    let hour = Duration::from_secs(3600);
    let limits = Limits::default().retry_after(hour, hour);
    let srv = Imported::start("stateless", limits, |builder| {
        builder.inputs(passed_on(Decision::Allow))
    });
    let gateway = Gateway::serving(srv).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    let call = json!({"name": "srv__ask", "arguments": {}});
    let question = client.exchange(CALL, call.clone()).await;
    assert_eq!(question["result"]["resultType"], "input_required");
    gateway.srv.call("echo", json!({"n": 99})).await;
    eventually("it is away", || {
        gateway.srv.status().state.as_str() == "away"
    })
    .await;
    let answer = client.round(CALL, &call, &question, 1).await;
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "server srv is not available; the call may have run in part"
    );
    let answer = client.exchange(CALL, call).await;
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "server srv is not available; the call was not sent to it"
    );
}

#[tokio::test]
async fn a_call_that_is_over_leaves_nothing_to_one_that_is_the_same() {
    // The server answers and waits for no answer of its own.
    let silent = Arc::new(Silent::default());
    let (gateway, _registration) = with_tool(asks_silent("hasty", &silent), |registry| {
        Tool::dynamic("Calls twice", nothing(), move |_, _| {
            let registry = registry.clone();
            async move {
                let first = settled(&registry, "srv__hasty", json!({"n": 0})).await;
                let second = settled(&registry, "srv__hasty", json!({"n": 0})).await;
                Ok(Produced::content([Content::text(first + &second)]))
            }
        })
    })
    .await;
    assert_eq!(composed(&gateway.server).await.0, "donedone");
    assert_eq!(gateway.calls("hasty"), 2);

    // The call is dropped in the middle of a question.
    let silent = Arc::new(Silent::default());
    let asked = Arc::clone(&silent);
    let (gateway, _registration) = with_tool(asks_silent("hasty", &silent), |registry| {
        Tool::dynamic("Calls twice", nothing(), move |_, _| {
            let (registry, asked) = (registry.clone(), Arc::clone(&asked));
            async move {
                tokio::select! {
                    first = settled(&registry, "srv__hasty", json!({"n": 1})) => panic!("{first}"),
                    () = asked.asked.notified() => {}
                }
                Ok(json!(
                    settled(&registry, "srv__hasty", json!({"n": 1})).await
                ))
            }
        })
    })
    .await;
    assert_eq!(composed(&gateway.server).await.0, "done");
    assert_eq!(gateway.srv.cancellations().len(), 1);

    // The question is refused.
    let silent = Arc::new(Silent {
        refuses: true,
        ..Silent::default()
    });
    let (gateway, _registration) = with_tool(asks_silent("stateless", &silent), |registry| {
        Tool::dynamic("Calls twice", nothing(), move |_, _| {
            let registry = registry.clone();
            async move {
                settled(&registry, "srv__ask", json!({})).await;
                let second = settled(&registry, "srv__ask", json!({})).await;
                Ok(Produced::content([Content::text(second)]))
            }
        })
    })
    .await;
    let (text, _) = composed(&gateway.server).await;
    assert!(text.ends_with("and that was refused"), "{text}");
    assert_eq!(gateway.calls("ask"), 2);
}

#[tokio::test]
async fn each_question_has_its_own_time_however_often_the_client_came_back() {
    let gateway = Gateway::of("conformance-handshake", Decision::Allow).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    let call = json!({"name": "srv__test_input_required_result_multi_round"});
    let later = async |minutes: u64| {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(60 * minutes)).await;
        tokio::time::resume();
    };
    let first = client.exchange(CALL, call.clone()).await;
    later(6).await;
    let second = client.round(CALL, &call, &first, 1).await;
    assert_eq!(second["result"]["resultType"], "input_required", "{second}");
    later(6).await;
    let answer = client.round(CALL, &call, &second, 1).await;
    assert_eq!(answer["result"]["content"][0]["text"], "Ada likes Ada");

    // A client that never comes back is given up.
    let first = client.exchange(CALL, call.clone()).await;
    later(11).await;
    eventually("it is given up", || !gateway.srv.cancellations().is_empty()).await;
    let answer = client.round(CALL, &call, &first, 1).await;
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "server srv is not available; the call may have run in part"
    );
}

/// Modes of a server, a tool there that asks, and how often two calls of it are sent: without a
/// handshake, each once more with the answer.
const SENT_TWICE: [(&str, &str, usize); 2] = [
    ("stateless", "ask", 4),
    (
        "conformance-handshake",
        "test_input_required_result_elicitation",
        2,
    ),
];

#[tokio::test]
async fn two_calls_at_once_that_are_the_same_lose_and_cross_no_answer_and_neither_is_made_twice() {
    for (mode, tool, sent) in SENT_TWICE {
        let srv = Imported::start(mode, Limits::default().retries(0), |builder| {
            builder.inputs(passed_on(Decision::Allow))
        });
        let (gateway, _registration) = with_tool(srv, move |registry| {
            Tool::dynamic("Calls twice at once", nothing(), move |_, _| {
                let registry = registry.clone();
                async move {
                    let name = format!("srv__{tool}");
                    let call = || settled(&registry, &name, json!({}));
                    let (first, second) = tokio::join!(call(), call());
                    Ok(Produced::content([
                        Content::text(first),
                        Content::text(second),
                    ]))
                }
            })
        })
        .await;
        let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
        let answer = client.ask(CALL, json!({"name": "composed"})).await;
        let content = &answer["result"]["content"];
        assert_eq!(content[0], content[1], "{mode}");
        let text = content[0]["text"].as_str().expect("text");
        assert!(
            text.contains("Ada") || text.contains("accept"),
            "{mode}: {text}"
        );
        // Each has its own question, and none is asked again.
        assert_eq!(client.asked.len(), 2, "{mode}: {:?}", client.asked);
        assert_eq!(gateway.calls(tool), sent, "{mode}");
        assert!(gateway.srv.cancellations().is_empty(), "{mode}");
    }
}

#[tokio::test]
async fn a_call_for_which_somebody_was_asked_is_not_made_again_when_a_later_one_asks() {
    for (mode, tool, sent) in SENT_TWICE {
        let srv = Imported::start(mode, Limits::default().retries(0), |builder| {
            builder.inputs(passed_on(Decision::Allow))
        });
        let (gateway, _registration) = with_tool(srv, move |registry| {
            Tool::dynamic("Calls twice", nothing(), move |_, _| {
                let registry = registry.clone();
                async move {
                    let name = format!("srv__{tool}");
                    let first = settled(&registry, &name, json!({})).await;
                    let second = settled(&registry, &name, json!({"second": true})).await;
                    Ok(Produced::content([Content::text(first + &second)]))
                }
            })
        })
        .await;
        let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
        let answer = client.ask(CALL, json!({"name": "composed"})).await;
        let text = answer["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(
            text.matches("Ada").count() + text.matches("accept").count(),
            2,
            "{text}"
        );
        assert_eq!(client.asked.len(), 2, "{mode}: {:?}", client.asked);
        assert_eq!(gateway.calls(tool), sent, "{mode}");
    }
}

#[tokio::test]
async fn a_question_outlives_the_call_that_it_was_taken_for_where_another_one_may_wait_for_it() {
    for speaks in [Speaks::Stateless, Speaks::Handshake] {
        let srv = Imported::start("holding", Limits::default().retries(0), |builder| {
            builder.inputs(passed_on(Decision::Allow))
        });
        let (gateway, _registration) = with_tool(srv, |registry| {
            Tool::dynamic("Calls two", nothing(), move |_, _| {
                let registry = registry.clone();
                async move {
                    let held = settled(&registry, "srv__held", json!({}));
                    let swap = settled(&registry, "srv__swap", json!({}));
                    let (held, swapped) = tokio::join!(held, swap);
                    Ok(Produced::content([Content::text(held + &swapped)]))
                }
            })
        })
        .await;
        let mut client = Agreeing::of(&gateway.server, speaks).await;
        let answer = client.ask(CALL, json!({"name": "composed"})).await;
        let text = &answer["result"]["content"][0]["text"];
        assert_eq!(text, "acceptswapped", "{speaks:?}: {answer}");
        assert_eq!(gateway.calls("held"), 1);
    }
}

#[tokio::test]
async fn a_call_that_is_on_its_way_when_another_asks_goes_on_and_is_not_made_twice() {
    let srv = Imported::new("holding").await;
    let (gateway, _registration) = with_tool(srv, |registry| {
        Tool::dynamic("Calls and asks", nothing(), move |_, _| {
            let registry = registry.clone();
            async move {
                let client = CallingClient::current().ok_or(ToolFailure::new("nobody"))?;
                let form = Ask::form("Really?", nothing());
                let call = settled(&registry, "srv__held", json!({}));
                let (held, asked) = tokio::join!(call, client.ask("who", form));
                asked.map_err(ToolFailure::from)?;
                Ok(Produced::content([Content::text(held)]))
            }
        })
    })
    .await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    let call = json!({"name": "composed"});
    let question = client.exchange(CALL, call.clone()).await;
    assert_eq!(question["result"]["resultType"], "input_required");
    // Answers the call that was begun, while nobody is there to take it.
    assert_eq!(gateway.srv.call("poke", json!({})).await.text(), "poked");
    assert!(gateway.srv.cancellations().is_empty());
    let answer = client.round(CALL, &call, &question, 1).await;
    let text = &answer["result"]["content"][0]["text"];
    assert_eq!(text, "held until then", "{answer}");
    assert_eq!(gateway.calls("held"), 1);
}
