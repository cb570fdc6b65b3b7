//! Resources, prompts and completions.

use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use serde_json::{Map, Value, json};
use tool_core::{BoxFuture, Facts, ToolFailure};
use tool_mcp::{Completion, OfferChanges, OfferError, Offered, Offers};

use crate::inputs::{client, form};
use crate::media::PNG;

/// What the suite reads besides tools.
#[derive(Default)]
pub(crate) struct Fixtures {
    changes: std::sync::Arc<Mutex<Option<OfferChanges>>>,
}

impl Fixtures {
    /// Tells of changes once a server offers this.
    pub(crate) fn changes(&self) -> impl Fn() + Send + Sync + 'static {
        let changes = std::sync::Arc::clone(&self.changes);
        move || {
            let changes = changes.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(changes) = &*changes {
                changes.prompts();
            }
        }
    }
}

impl Offers for Fixtures {
    fn offered(&self) -> Offered {
        Offered::default().resources().prompts().completions()
    }

    fn tell_changes_to(&self, changes: OfferChanges) {
        *self.changes.lock().unwrap_or_else(PoisonError::into_inner) = Some(changes);
    }

    fn resources<'a>(&'a self, _: &'a Facts) -> BoxFuture<'a, Result<Vec<Value>, OfferError>> {
        let list = vec![
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
        ];
        Box::pin(async move { Ok(list) })
    }

    fn templates<'a>(&'a self, _: &'a Facts) -> BoxFuture<'a, Result<Vec<Value>, OfferError>> {
        let list = vec![json!({
            "uriTemplate": "test://template/{id}/data",
            "name": "Data by id",
            "description": "Data of an id",
            "mimeType": "application/json",
        })];
        Box::pin(async move { Ok(list) })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: &'a Facts,
    ) -> BoxFuture<'a, Result<Option<Value>, OfferError>> {
        let contents = match uri {
            "test://static-text" => Some(json!({
                "uri": uri,
                "mimeType": "text/plain",
                "text": "This is the content of the static text resource.",
            })),
            "test://static-binary" => Some(json!({
                "uri": uri,
                "mimeType": "image/png",
                "blob": base64::engine::general_purpose::STANDARD.encode(PNG),
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
        };
        let result = contents.map(|contents| json!({"contents": [contents]}));
        Box::pin(async move { Ok(result) })
    }

    fn prompts<'a>(&'a self, _: &'a Facts) -> BoxFuture<'a, Result<Vec<Value>, OfferError>> {
        let argument = |name: &str| json!({"name": name, "required": true});
        let prompt = |name: &str, arguments: Value| {
            json!({"name": name, "description": "A prompt of the suite", "arguments": arguments})
        };
        let list = vec![
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
        ];
        Box::pin(async move { Ok(list) })
    }

    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        _: &'a Facts,
    ) -> BoxFuture<'a, Result<Option<Value>, OfferError>> {
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
                        "data": base64::engine::general_purpose::STANDARD.encode(PNG),
                        "mimeType": "image/png",
                    }),
                    text("Please analyze the image above.".to_owned()),
                ],
                "test_input_required_result_prompt" => {
                    let ask = form("What context should the prompt use?", "context", "string");
                    let client = client().map_err(refused)?;
                    let answer = client.ask("user_context", ask).await;
                    let answer = answer.map_err(|error| refused(ToolFailure::from(error)))?;
                    let context = answer.pointer("/content/context").and_then(Value::as_str);
                    vec![text(format!("Context: {}", context.unwrap_or_default()))]
                }
                _ => return Ok(None),
            };
            let messages: Vec<_> = content
                .into_iter()
                .map(|content| json!({"role": "user", "content": content}))
                .collect();
            Ok(Some(json!({"messages": messages})))
        })
    }

    fn complete<'a>(
        &'a self,
        completion: &'a Completion,
        _: &'a Facts,
    ) -> BoxFuture<'a, Result<Option<Value>, OfferError>> {
        let begun = completion.argument.get("value").and_then(Value::as_str);
        let begun = begun.unwrap_or_default();
        let values: Vec<_> = ["paris", "park", "party"]
            .into_iter()
            .filter(|value| value.starts_with(begun))
            .collect();
        let total = values.len();
        let completion = json!({"completion": {
            "values": values,
            "total": total,
            "hasMore": false,
        }});
        Box::pin(async move { Ok(Some(completion)) })
    }
}

fn refused(failure: ToolFailure) -> OfferError {
    OfferError::new(failure.message())
}
