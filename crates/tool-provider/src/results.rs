//! The results of calls, as the next request carries them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tool_core::{Content, EmbeddedBody, Media, MediaKind, Outcome, Settlement};

use crate::{Api, IncomingCall};

impl Api {
    /// What the next request adds: a result for each call, in the order of the calls.
    ///
    /// A settlement answers the call of its id. Where one of the two has no id, the settlement at a
    /// position answers the call at that position. A call without a settlement is said not to have
    /// been started, so that the next request is accepted whatever happened. Where an
    /// API has no mark for errors, the text says so; where results hold no media, they follow in a
    /// message of their own.
    #[must_use]
    pub fn results(self, calls: &[IncomingCall], settlements: &[Settlement]) -> Vec<Value> {
        let mut results = Vec::new();
        let mut media = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            let absent;
            let settlement = match answer(call, index, settlements) {
                Some(settlement) => settlement,
                None => {
                    let outcome = Outcome::NotDispatched { stopped_by: None };
                    absent =
                        Settlement::without_output(call.id.clone(), call.name.clone(), outcome);
                    &absent
                }
            };
            results.push(self.result(call, settlement, &mut media));
        }
        if results.is_empty() {
            return results;
        }
        match self {
            Self::AnthropicMessages => vec![json!({"role": "user", "content": results})],
            Self::Gemini => {
                results.append(&mut media);
                vec![json!({"role": "user", "parts": results})]
            }
            Self::OpenAiChat if !media.is_empty() => {
                results.push(json!({"role": "user", "content": media}));
                results
            }
            _ => results,
        }
    }

    fn result(self, call: &IncomingCall, settled: &Settlement, media: &mut Vec<Value>) -> Value {
        let id = call.id.as_ref().map(|id| id.as_str());
        let text = text(settled);
        let said = if settled.is_error() {
            format!("Error: {text}")
        } else {
            text.clone()
        };
        let images = settled.content.iter().filter_map(image);
        match self {
            Self::AnthropicMessages => {
                let mut content = vec![json!({"type": "text", "text": text})];
                content.retain(|block| block["text"] != "");
                content.extend(images.map(|image| {
                    let data = STANDARD.encode(&image.data);
                    let source = json!({"type": "base64", "media_type": image.mime, "data": data});
                    json!({"type": "image", "source": source})
                }));
                json!({
                    "type": "tool_result",
                    "tool_use_id": id,
                    "content": content,
                    "is_error": settled.is_error(),
                })
            }
            Self::OpenAiChat => {
                media.extend(images.map(
                    |image| json!({"type": "image_url", "image_url": {"url": address(image)}}),
                ));
                json!({"role": "tool", "tool_call_id": id, "content": said})
            }
            Self::OpenAiResponses => {
                let images: Vec<Value> = images
                    .map(|image| json!({"type": "input_image", "image_url": address(image)}))
                    .collect();
                let output = if images.is_empty() {
                    Value::String(said)
                } else {
                    let text = json!({"type": "input_text", "text": said});
                    std::iter::once(text).chain(images).collect()
                };
                json!({"type": "function_call_output", "call_id": id, "output": output})
            }
            Self::Gemini => {
                media.extend(images.map(|image| {
                    let data = STANDARD.encode(&image.data);
                    json!({"inlineData": {"mimeType": image.mime, "data": data}})
                }));
                let key = if settled.is_error() {
                    "error"
                } else {
                    "output"
                };
                let mut response = json!({"name": call.name, "response": {(key): text}});
                if let (Some(id), Some(response)) = (id, response.as_object_mut()) {
                    response.insert("id".to_owned(), id.into());
                }
                json!({"functionResponse": response})
            }
            Self::Mcp => {
                let mut content = vec![json!({"type": "text", "text": text})];
                content.retain(|block| block["text"] != "");
                for block in &settled.content {
                    let Content::Media(media) = block else {
                        continue;
                    };
                    let kind = if media.kind == MediaKind::Audio {
                        "audio"
                    } else {
                        "image"
                    };
                    let data = STANDARD.encode(&media.data);
                    content.push(json!({"type": kind, "mimeType": media.mime, "data": data}));
                }
                let mut result = json!({"content": content, "isError": settled.is_error()});
                if let (Some(structured), Some(result)) =
                    (settled.structured(), result.as_object_mut())
                    && structured.is_object()
                    && !settled.is_error()
                {
                    result.insert("structuredContent".to_owned(), structured.clone());
                }
                result
            }
        }
    }
}

/// The settlement that answers a call.
fn answer<'a>(
    call: &IncomingCall,
    index: usize,
    settlements: &'a [Settlement],
) -> Option<&'a Settlement> {
    let at_position = settlements.get(index);
    let Some(id) = &call.id else {
        return at_position;
    };
    let mut named = settlements.iter().filter(|it| it.call.as_ref() == Some(id));
    named.next().or(at_position.filter(|it| it.call.is_none()))
}

/// Everything of a result that is text, and words for what no result can hold.
fn text(settled: &Settlement) -> String {
    let blocks = settled.content.iter().filter_map(|block| match block {
        Content::Text(text) => Some(text.text.clone()),
        Content::Media(media) if media.kind == MediaKind::Image => None,
        Content::Media(media) => Some(format!("[a sound of type {}]", media.mime)),
        Content::Embedded(embedded) => Some(match &embedded.body {
            EmbeddedBody::Text(text) => text.clone(),
            _ => format!("[the resource {}]", embedded.uri),
        }),
        Content::Link(link) => Some(format!("[{}: {}]", link.name, link.uri)),
        _ => None,
    });
    blocks.collect::<Vec<_>>().join("\n")
}

fn image(block: &Content) -> Option<&Media> {
    match block {
        Content::Media(media) if media.kind == MediaKind::Image => Some(media),
        _ => None,
    }
}

fn address(image: &Media) -> String {
    format!(
        "data:{};base64,{}",
        image.mime,
        STANDARD.encode(&image.data)
    )
}
