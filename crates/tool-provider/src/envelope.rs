//! What stands around a schema in a request.

use std::ops::Range;

use tool_core::Definition;

use crate::node::{Document, Text};
use crate::rules::{Envelope, Rules};

/// A definition as a request carries it.
pub(crate) struct Written {
    pub(crate) json: String,
    /// Where in it the schema stands; nowhere for a tool that goes without.
    pub(crate) schema: Option<Range<usize>>,
    /// Whether the schema is one that is not too large and not too deep.
    pub(crate) is_bounded: bool,
}

/// The whole definition of a tool, with the keys of every object sorted.
pub(crate) fn envelope(
    definition: &Definition,
    rules: &Rules,
    description: &str,
    document: &Document<'_>,
) -> Written {
    let least = description.len() + document.survey.bytes;
    let about = least + least / 4;
    let mut text = Text::new(rules.envelope == Envelope::Gemini, about);
    let nothing = document.root.map("properties").is_none();
    let mut schema = None;
    let mut first = true;
    let name = definition.name.as_str();
    text.raw(match rules.envelope {
        Envelope::Chat => "{\"function\":{",
        _ => "{",
    });
    let (key, needs_words) = match rules.envelope {
        Envelope::Anthropic => ("input_schema", false),
        Envelope::Chat | Envelope::Responses => ("parameters", false),
        Envelope::Gemini => ("parameters", true),
        Envelope::GeminiJson => ("parametersJsonSchema", true),
        Envelope::Mcp => ("inputSchema", false),
    };
    text.key("description", &mut first);
    text.text(if needs_words && description.is_empty() {
        name
    } else {
        description
    });
    let mut put_name = |text: &mut Text| {
        text.key("name", &mut first);
        text.text(name);
    };
    let name_first = key > "name";
    if name_first {
        put_name(&mut text);
    }
    // A tool without arguments goes without a schema here.
    if rules.envelope != Envelope::Gemini || !nothing {
        text.raw(",\"");
        text.raw(key);
        text.raw("\":");
        let start = text.len();
        text.document(document);
        schema = Some(start..text.len());
    }
    if !name_first {
        put_name(&mut text);
    }
    match rules.envelope {
        // Left out, it is on.
        Envelope::Responses if !rules.strict => text.raw(",\"strict\":false"),
        _ if rules.strict => text.raw(",\"strict\":true"),
        _ => {}
    }
    text.raw(match rules.envelope {
        Envelope::Chat => "},\"type\":\"function\"}",
        Envelope::Responses => ",\"type\":\"function\"}",
        _ => "}",
    });
    Written {
        is_bounded: text.is_bounded(),
        json: text.finish(),
        schema,
    }
}
