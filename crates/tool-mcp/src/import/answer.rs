//! From a server's answer to what the tool gives.

use serde_json::{Map, Value};
use tool_core::{Content, Namespace, Produced, ToolFailure};

use super::call_error::CallError;
use super::content;
use super::mailbox::Answer;

/// Reads the result of a call.
///
/// - Blocks are the model's, structured content is the output; nothing is made of the one from
///   the other, except that output without any block is left to the runtime to show, so that the
///   model is never shown nothing where there is something.
/// - A result that says of itself that it is an error is a failure with the same two parts.
/// - What a server of the revision 2024-10-07 gives as `toolResult` is the output, where there is
///   neither a block nor structured content.
/// - An answer with none of them is a failure that says of which shape it is, and nothing of it.
/// - Numbers that no value holds to the last digit are in `_meta` as they were written, of a result
///   that is an error as well.
pub(crate) fn read(server: &Namespace, answer: Answer) -> Result<Produced, ToolFailure> {
    let Answer { result, rounded } = answer;
    let Value::Object(mut answer) = result else {
        return Err(shapeless(server, &shape(&result)));
    };
    let members = answer.len();
    let (content, blocks) = match answer.remove("content") {
        Some(Value::Array(blocks)) => {
            let content: Vec<Content> = blocks.into_iter().map(content::from_json).collect();
            (Some(content), None)
        }
        other => (None, other),
    };
    let structured = answer.remove("structuredContent");
    let is_error = answer.get("isError") == Some(&Value::Bool(true));
    let earlier = answer.remove("toolResult");
    let (content, structured) = match (content, structured, earlier) {
        // Whoever still answers as of old leaves the blocks empty beside it.
        (None, None, Some(earlier)) => (Vec::new(), Some(earlier)),
        (Some(content), None, Some(earlier)) if content.is_empty() => (content, Some(earlier)),
        (None, None, None) if !is_error => {
            let blocks = blocks.map_or("no content".to_owned(), |blocks| {
                format!("{} for content", shape(&blocks))
            });
            let shape = format!("an object of {members} members with {blocks}");
            return Err(shapeless(server, &shape));
        }
        (content, structured, _) => (content.unwrap_or_default(), structured),
    };
    let mut meta = meta(&mut answer);
    if let Some(rounded) = rounded {
        rounded.tell(meta.get_or_insert_default());
    }
    if is_error {
        let failure = failure(server, content, structured);
        return Err(match meta {
            Some(meta) => failure.meta(meta),
            None => failure,
        });
    }

    let mut produced = match structured {
        Some(output) if content.is_empty() => Produced::value(output),
        Some(output) => Produced::value(output).with_content(content),
        None => Produced::content(content),
    };
    produced.meta = meta.map(Box::new);
    Ok(produced)
}

/// What the model reads of a call that got no result. The cause is for the operator.
pub(crate) fn unanswered(server: &Namespace, error: CallError) -> ToolFailure {
    let text = match &error {
        CallError::Unfinished(cause) if matches!(**cause, CallError::Changed) => format!(
            "server {server} has changed this tool, and the call cannot go on; it may have run in part"
        ),
        CallError::Gone | CallError::Unfinished(_) => {
            format!("server {server} is not available; the call may have run in part")
        }
        CallError::NotSent | CallError::Away => {
            format!("server {server} is not available; the call was not sent to it")
        }
        CallError::Changed => format!(
            "server {server} has changed this tool, and the call was not sent; the tool can be called again once that was looked at"
        ),
        CallError::Peer { code, message, .. } => {
            format!("server {server} answered with error {code}: {message}")
        }
        CallError::Status(status) => {
            format!("server {server} answered with HTTP status {status}")
        }
        #[cfg(feature = "oauth")]
        CallError::Login { .. } => format!(
            "server {server} wants to know who calls, or wants somebody with more rights to: a person has to log in to it; the call did not run"
        ),
        CallError::TooMany(None) => format!(
            "server {server} takes no more calls for now, and did not run this one; call again later"
        ),
        CallError::TooMany(Some(wait)) => format!(
            "server {server} takes no more calls for now, and did not run this one; call again in {} s",
            wait.as_secs()
        ),
        CallError::ResultType(kind) if kind == "input_required" => format!(
            "server {server} asked for something before it would answer, which is not possible here"
        ),
        CallError::ResultType(_) => {
            format!("the answer of server {server} is of a type that is not known here")
        }
        CallError::Refused { method, .. } => format!(
            "server {server} asked for {method} before it would answer, and that was refused"
        ),
        CallError::Rounds(rounds) => {
            format!("server {server} asked for something {rounds} times over and never answered")
        }
        CallError::TooLong { limit } => format!(
            "the answer of server {server} is longer than {limit} bytes and was not taken; ask for less"
        ),
        CallError::Unreadable | CallError::TooDeep(_) => {
            format!("the answer of server {server} cannot be read")
        }
        CallError::Idle(after) | CallError::Total(after) => format!(
            "server {server} did not answer within {} seconds and the call was cancelled; it may have run in part",
            after.as_secs_f64()
        ),
    };
    ToolFailure::new(text).because(error)
}

fn failure(server: &Namespace, content: Vec<Content>, structured: Option<Value>) -> ToolFailure {
    let text: Vec<_> = content.iter().filter_map(Content::as_text).collect();
    let message = match (&structured, text.is_empty()) {
        (_, false) => text.join("\n"),
        (Some(structured), true) if content.is_empty() => structured.to_string(),
        _ => format!("server {server} reported a failure without saying which"),
    };
    let mut failure = ToolFailure::new(message);
    if !content.is_empty() {
        failure = failure.content(content);
    }
    match structured {
        Some(structured) => failure.structured(structured),
        None => failure,
    }
}

fn shapeless(server: &Namespace, shape: &str) -> ToolFailure {
    ToolFailure::new(format!(
        "server {server} answered with {shape}, which is no result of a tool"
    ))
}

fn shape(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(members) => format!("an object of {} members", members.len()),
    }
}

fn meta(answer: &mut Map<String, Value>) -> Option<Map<String, Value>> {
    match answer.remove("_meta")? {
        Value::Object(meta) => Some(meta),
        _ => None,
    }
}
