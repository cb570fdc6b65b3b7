//! Tools that need nothing but their arguments.

use std::time::Duration;

use serde_json::{Value, json};
use tool_core::{
    Content, Embedded, EmbeddedBody, HandlerError, Media, MediaKind, Produced, Progress, Tool,
    ToolFailure,
};
use tool_mcp::{CallingClient, LogLevel};

use crate::media::{PNG, WAV};

/// The gap between two things that a client is told.
const GAP: Duration = Duration::from_millis(50);

pub(crate) fn tools() -> Vec<(&'static str, Tool)> {
    vec![
        (
            "test_simple_text",
            says(
                "Says one thing",
                "This is a simple text response for testing.",
            ),
        ),
        (
            "test_image_content",
            gives("Shows a picture", || vec![picture()]),
        ),
        (
            "test_audio_content",
            gives("Plays a sound", || vec![sound()]),
        ),
        (
            "test_embedded_resource",
            gives("Holds a resource", || {
                vec![resource(
                    "test://embedded-resource",
                    "text/plain",
                    "This is an embedded resource content.",
                )]
            }),
        ),
        (
            "test_multiple_content_types",
            gives("Holds several things", || {
                vec![
                    Content::text("Multiple content types test:"),
                    picture(),
                    resource(
                        "test://mixed-content-resource",
                        "application/json",
                        r#"{"test":"data","value":123}"#,
                    ),
                ]
            }),
        ),
        ("test_error_handling", fails()),
        ("test_tool_with_progress", with_progress()),
        ("test_tool_with_logging", with_logging()),
        ("test_logging_tool", with_logging()),
        ("json_schema_2020_12_tool", with_schema()),
        ("test_custom_header", with_header()),
    ]
}

/// A tool that says one thing.
pub(crate) fn says(description: &'static str, text: &'static str) -> Tool {
    gives(description, move || vec![Content::text(text)])
}

/// A tool that changes something outside of itself.
pub(crate) fn changes(
    description: &'static str,
    change: impl Fn() + Send + Sync + 'static,
) -> Tool {
    gives(description, move || {
        change();
        vec![Content::text("changed")]
    })
}

fn gives(
    description: &'static str,
    content: impl Fn() -> Vec<Content> + Send + Sync + 'static,
) -> Tool {
    Tool::dynamic(description, nothing(), move |_, _| {
        let content = content();
        async move { Ok(Produced::content(content)) }
    })
}

pub(crate) fn nothing() -> Value {
    json!({"type": "object", "properties": {}})
}

pub(crate) fn picture() -> Content {
    Content::image("image/png", PNG.to_vec())
}

fn sound() -> Content {
    Content::Media(Media::new(MediaKind::Audio, "audio/wav", WAV.to_vec()))
}

fn resource(uri: &str, mime: &str, text: &str) -> Content {
    let body = EmbeddedBody::Text(text.to_owned());
    Content::Embedded(Embedded::new(uri, Some(mime.to_owned()), body))
}

fn fails() -> Tool {
    Tool::dynamic("Fails", nothing(), |_, _| async move {
        let failure = ToolFailure::new("This tool intentionally returns an error for testing");
        Err::<Value, _>(HandlerError::from(failure))
    })
}

fn with_progress() -> Tool {
    Tool::dynamic("Reports its progress", nothing(), |_, cx| async move {
        for done in [0.0, 50.0, 100.0] {
            cx.progress(Progress::new().of(done, 100.0));
            tokio::time::sleep(GAP).await;
        }
        Ok(Produced::content([Content::text("Progress completed")]))
    })
}

fn with_logging() -> Tool {
    Tool::dynamic("Logs what it does", nothing(), |_, _| async move {
        for text in [
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed",
        ] {
            if let Some(client) = CallingClient::current() {
                client.log(LogLevel::Info, None, text.into()).await;
            }
            tokio::time::sleep(GAP).await;
        }
        Ok(Produced::content([Content::text("Logging completed")]))
    })
}

fn with_schema() -> Tool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {
                    "street": {"type": "string"},
                    "city": {"type": "string"},
                },
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}},
            "required": ["contactMethod"],
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    Tool::dynamic(
        "Tool with JSON Schema 2020-12 features",
        schema,
        |_, _| async move { Ok(Produced::content([Content::text("fits")])) },
    )
}

fn with_header() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"value": {"type": "string", "x-mcp-header": "Value"}},
        "required": ["value"],
    });
    Tool::dynamic(
        "Has an argument that a header repeats",
        schema,
        |input, _| async move {
            let value = input
                .get("value")
                .and_then(Value::as_str)
                .unwrap_or_default();
            Ok(Produced::content([Content::text(format!(
                "value: {value}"
            ))]))
        },
    )
}
