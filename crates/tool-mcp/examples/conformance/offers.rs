//! Resources, prompts and completions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tool_core::{BoxFuture, ToolFailure};
use tool_mcp::{
    Completion, Offer, OfferError, OfferErrorKind, OfferEventSender, OfferEvents, OfferKind,
    Offerings,
};

use crate::inputs::{client, form};
use crate::media::PNG;

/// What the suite reads besides tools.
#[derive(Default)]
pub(crate) struct Fixtures {
    pub(crate) events: OfferEventSender,
}

impl Offerings for Fixtures {
    fn kinds(&self) -> Vec<OfferKind> {
        OfferKind::ALL.to_vec()
    }

    fn list(&self, kind: OfferKind) -> BoxFuture<'_, Result<Vec<Offer>, OfferError>> {
        let entries = match kind {
            OfferKind::Resource => resources(),
            OfferKind::Template => templates(),
            _ => prompts(),
        };
        let offers = entries.into_iter().filter_map(|entry| {
            let Value::Object(definition) = entry else {
                return None;
            };
            let key = definition.get(kind.key_member())?.as_str()?.to_owned();
            Some(Offer::new("", key, definition))
        });
        let offers = offers.collect();
        Box::pin(async move { Ok(offers) })
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>> {
        Box::pin(async move {
            let contents = contents(uri).ok_or_else(missing)?;
            Ok(Map::from_iter([("contents".to_owned(), json!([contents]))]))
        })
    }

    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>> {
        Box::pin(async move {
            let given = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or("");
            let text = |text: String| json!({"type": "text", "text": text});
            let content = match name {
                "test_simple_prompt" => {
                    vec![text("This is a simple prompt for testing.".to_owned())]
                }
                "test_prompt_with_arguments" => vec![text(format!(
                    "Prompt with arguments: arg1='{}', arg2='{}'",
                    given("arg1"),
                    given("arg2"),
                ))],
                "test_prompt_with_embedded_resource" => vec![
                    json!({"type": "resource", "resource": {
                        "uri": given("resourceUri"),
                        "mimeType": "text/plain",
                        "text": "Embedded resource content for testing.",
                    }}),
                    text("Please process the embedded resource above.".to_owned()),
                ],
                "test_prompt_with_image" => vec![
                    json!({
                        "type": "image",
                        "data": STANDARD.encode(PNG),
                        "mimeType": "image/png",
                    }),
                    text("Please analyze the image above.".to_owned()),
                ],
                "test_input_required_result_prompt" => {
                    let ask = form("What context should the prompt use?", "context", "string");
                    let client = client().map_err(|failure| refused(&failure))?;
                    let answer = client.ask("user_context", ask).await;
                    let answer = answer.map_err(|error| refused(&ToolFailure::from(error)))?;
                    let context = answer.pointer("/content/context").and_then(Value::as_str);
                    vec![text(format!("Context: {}", context.unwrap_or_default()))]
                }
                _ => return Err(missing()),
            };
            let messages: Vec<_> = content
                .into_iter()
                .map(|content| json!({"role": "user", "content": content}))
                .collect();
            let messages = Value::Array(messages);
            Ok(Map::from_iter([("messages".to_owned(), messages)]))
        })
    }

    fn complete<'a>(
        &'a self,
        completion: &'a Completion,
    ) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>> {
        let begun = completion.argument.get("value").and_then(Value::as_str);
        let begun = begun.unwrap_or_default();
        let values: Vec<_> = ["paris", "park", "party"]
            .into_iter()
            .filter(|value| value.starts_with(begun))
            .collect();
        let total = values.len();
        let completed = json!({
            "values": values,
            "total": total,
            "hasMore": false,
        });
        Box::pin(async move { Ok(Map::from_iter([("completion".to_owned(), completed)])) })
    }

    fn events(&self) -> OfferEvents {
        self.events.subscribe()
    }
}

fn resources() -> Vec<Value> {
    vec![
        json!({
            "uri": "test://static-text",
            "name": "Static text",
            "description": "A text that never changes",
            "mimeType": "text/plain",
        }),
        json!({
            "uri": "test://static-binary",
            "name": "Static picture",
            "description": "A picture that never changes",
            "mimeType": "image/png",
        }),
        json!({
            "uri": "test://watched-resource",
            "name": "Watched",
            "description": "A text to subscribe to",
            "mimeType": "text/plain",
        }),
    ]
}

fn templates() -> Vec<Value> {
    vec![json!({
        "uriTemplate": "test://template/{id}/data",
        "name": "Data by id",
        "description": "Data of an id",
        "mimeType": "application/json",
    })]
}

fn contents(uri: &str) -> Option<Value> {
    match uri {
        "test://static-text" => Some(json!({
            "uri": uri,
            "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        })),
        "test://static-binary" => Some(json!({
            "uri": uri,
            "mimeType": "image/png",
            "blob": STANDARD.encode(PNG),
        })),
        "test://watched-resource" => Some(json!({
            "uri": uri,
            "mimeType": "text/plain",
            "text": "Watched resource content",
        })),
        _ => uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"))
            .filter(|id| !id.is_empty() && !id.contains('/'))
            .map(|id| {
                let data = json!({
                    "id": id,
                    "templateTest": true,
                    "data": format!("Data for ID: {id}"),
                });
                json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
            }),
    }
}

fn prompts() -> Vec<Value> {
    let argument = |name: &str| json!({"name": name, "required": true});
    let prompt = |name: &str, arguments: Value| json!({"name": name, "description": "A prompt of the suite", "arguments": arguments});
    vec![
        prompt("test_simple_prompt", json!([])),
        prompt(
            "test_prompt_with_arguments",
            json!([argument("arg1"), argument("arg2")]),
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            json!([argument("resourceUri")]),
        ),
        prompt("test_prompt_with_image", json!([])),
        prompt("test_input_required_result_prompt", json!([])),
    ]
}

fn missing() -> OfferError {
    OfferError::new(
        OfferErrorKind::NotFound,
        "the suite asks for nothing of that name",
    )
}

fn refused(failure: &ToolFailure) -> OfferError {
    OfferError::new(OfferErrorKind::Refused, failure.message())
}
