//! rig: a strict function tool of its Responses API, which runs its sanitiser.

use rig_core::providers::openai::responses_api::ResponsesToolDefinition;

use super::corpus::Corpus;

/// Every definition as rig's request carries it: how many bytes that are. The sanitiser works in
/// place, and whoever has a tool keeps it, so each schema is copied first, as rig's requests do.
pub fn sanitized(corpus: &Corpus) -> usize {
    let made = corpus.definitions.iter().map(|tool| {
        let schema = tool.input.as_value().clone();
        let name = tool.name.as_str();
        ResponsesToolDefinition::strict_function(name, &*tool.description, schema)
    });
    made.map(|tool| serde_json::to_string(&tool).map_or(0, |text| text.len()))
        .sum()
}
