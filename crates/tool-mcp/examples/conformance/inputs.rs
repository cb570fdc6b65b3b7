//! Tools that ask their client for something.

use serde_json::{Map, Value, json};
use tool_core::{Content, HandlerError, Produced, Tool, ToolFailure};
use tool_mcp::{Ask, AskKind, CallingClient};

use crate::tools::nothing;

pub(crate) fn tools() -> Vec<(&'static str, Tool)> {
    vec![
        ("test_sampling", asks_model()),
        ("test_elicitation", asks_person()),
        (
            "test_elicitation_sep1034_defaults",
            asks("answer", "Elicitation completed", defaults),
        ),
        (
            "test_elicitation_sep1330_enums",
            asks("answer", "Elicitation completed", choices),
        ),
        (
            "test_missing_capability",
            asks("answer", "Sampled", capital),
        ),
        (
            "test_streaming_elicitation",
            asks("user_name", "Hello", name),
        ),
        ("test_input_required_result_elicitation", hello()),
        (
            "test_input_required_result_sampling",
            asks("capital_question", "Sampled", capital),
        ),
        (
            "test_input_required_result_list_roots",
            asks("client_roots", "Roots", Ask::roots),
        ),
        (
            "test_input_required_result_request_state",
            asks("confirm", "state-ok", confirm),
        ),
        (
            "test_input_required_result_tampered_state",
            asks("confirm", "state-ok", confirm),
        ),
        ("test_input_required_result_multiple_inputs", all_at_once()),
        ("test_input_required_result_multi_round", one_by_one()),
        ("test_input_required_result_capabilities", what_it_can()),
    ]
}

/// A form with one text in it.
pub(crate) fn form(message: &str, field: &str, kind: &str) -> Ask {
    let schema = json!({
        "type": "object",
        "properties": {field: {"type": kind}},
        "required": [field],
    });
    Ask::form(message, schema)
}

pub(crate) fn client() -> Result<CallingClient, ToolFailure> {
    CallingClient::current().ok_or_else(|| ToolFailure::new("nobody is there to ask"))
}

fn sample(text: &str, tokens: u32) -> Ask {
    Ask::sample(json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        "maxTokens": tokens,
    }))
}

fn name() -> Ask {
    form("What is your name?", "name", "string")
}

fn capital() -> Ask {
    sample("What is the capital of France?", 100)
}

fn confirm() -> Ask {
    form("Please confirm", "ok", "boolean")
}

/// A tool that asks for one thing and says what it was given.
fn asks(key: &'static str, text: &'static str, ask: fn() -> Ask) -> Tool {
    Tool::dynamic("Asks its client", nothing(), move |_, _| async move {
        let answer = client()?.ask(key, ask()).await.map_err(ToolFailure::from)?;
        said(format!("{text}: {answer}"))
    })
}

fn said(text: String) -> Result<Produced, HandlerError> {
    Ok(Produced::content([Content::text(text)]))
}

fn word(answer: &Value, pointer: &str) -> String {
    let word = answer.pointer(pointer).and_then(Value::as_str);
    word.unwrap_or_default().to_owned()
}

fn hello() -> Tool {
    Tool::dynamic("Asks for a name", nothing(), |_, _| async move {
        let answer = client()?
            .ask("user_name", name())
            .await
            .map_err(ToolFailure::from)?;
        said(format!("Hello, {}!", word(&answer, "/content/name")))
    })
}

fn asks_model() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"prompt": {"type": "string"}},
        "required": ["prompt"],
    });
    Tool::dynamic("Asks the client's model", schema, |input, _| async move {
        let prompt = word(&input, "/prompt");
        let answer = client()?
            .ask("answer", sample(&prompt, 100))
            .await
            .map_err(ToolFailure::from)?;
        said(format!("LLM response: {}", word(&answer, "/content/text")))
    })
}

fn asks_person() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    });
    Tool::dynamic("Asks a person", schema, |input, _| async move {
        let asked = json!({
            "type": "object",
            "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
            "required": ["username", "email"],
        });
        let answer = client()?
            .ask("answer", Ask::form(word(&input, "/message"), asked))
            .await
            .map_err(ToolFailure::from)?;
        said(format!("User response: {answer}"))
    })
}

fn all_at_once() -> Tool {
    Tool::dynamic("Asks for several things", nothing(), |_, _| async move {
        let answers = client()?
            .ask_all([
                ("user_name".to_owned(), name()),
                ("greeting".to_owned(), sample("Generate a greeting", 50)),
                ("client_roots".to_owned(), Ask::roots()),
            ])
            .await
            .map_err(ToolFailure::from)?;
        said(format!("Answers: {}", Value::Object(answers)))
    })
}

fn one_by_one() -> Tool {
    Tool::dynamic("Asks twice", nothing(), |_, _| async move {
        let client = client()?;
        let first = form("Step 1: What is your name?", "name", "string");
        let first = client
            .ask("step1", first)
            .await
            .map_err(ToolFailure::from)?;
        let second = form("Step 2: What is your favorite color?", "color", "string");
        let second = client
            .ask("step2", second)
            .await
            .map_err(ToolFailure::from)?;
        let (name, color) = (
            word(&first, "/content/name"),
            word(&second, "/content/color"),
        );
        said(format!("{name} likes {color}"))
    })
}

fn what_it_can() -> Tool {
    Tool::dynamic(
        "Asks for what its client can give",
        nothing(),
        |_, _| async move {
            let client = client()?;
            let asks = [
                ("user_name", AskKind::Form, name()),
                ("capital_question", AskKind::Sample, capital()),
                ("client_roots", AskKind::Roots, Ask::roots()),
            ];
            let asks: Vec<_> = asks
                .into_iter()
                .filter(|(_, kind, _)| client.can(*kind))
                .map(|(key, _, ask)| (key.to_owned(), ask))
                .collect();
            let answers: Map<String, Value> =
                client.ask_all(asks).await.map_err(ToolFailure::from)?;
            said(format!("Answers: {}", Value::Object(answers)))
        },
    )
}

fn defaults() -> Ask {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": {"type": "boolean", "default": true},
        },
        "required": [],
    });
    Ask::form("Please review the values", schema)
}

fn choices() -> Ask {
    let options = json!(["option1", "option2", "option3"]);
    let titled = json!([
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]);
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled}},
        },
    });
    Ask::form("Please choose", schema)
}
