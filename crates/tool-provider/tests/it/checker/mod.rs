//! What providers refuse, written down apart from the passes: it reads the JSON that is sent.

mod gemini;
mod json_schema;
mod openai;

pub(crate) use json_schema::required;

use serde_json::Value;
use tool_provider::Profile;

/// One thing that a provider would refuse.
pub(crate) type Refused = String;

/// What the provider of a profile would refuse about one tool of a request.
pub(crate) fn refused(profile: Profile, tool: &Value, strict: bool) -> Vec<Refused> {
    let mut found = Vec::new();
    let (name, schema) = match profile {
        Profile::Anthropic | Profile::AnthropicStrict => (&tool["name"], &tool["input_schema"]),
        Profile::OpenAiResponses | Profile::OpenAiResponsesStrict => {
            expect(&mut found, tool["type"] == "function", "X-SHAPE type");
            expect(&mut found, tool["strict"] == strict, "OS-FLAG");
            (&tool["name"], &tool["parameters"])
        }
        Profile::Gemini => (&tool["name"], &tool["parameters"]),
        Profile::GeminiJson => (&tool["name"], &tool["parametersJsonSchema"]),
        Profile::Mcp => (&tool["name"], &tool["inputSchema"]),
        _ => {
            expect(&mut found, tool["type"] == "function", "X-SHAPE type");
            let tool = &tool["function"];
            (&tool["name"], &tool["parameters"])
        }
    };
    let name = name.as_str().unwrap_or_default();
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    expect(
        &mut found,
        (1..=64).contains(&name.len())
            && name.chars().all(legal)
            && name.starts_with(|c: char| c.is_ascii_alphabetic()),
        "NAME",
    );
    if profile == Profile::Gemini {
        if !schema.is_null() {
            gemini::check(schema, &mut found);
        }
        return found;
    }
    expect(&mut found, schema["type"] == "object", "ROOT");
    json_schema::resolvable(schema, schema, &mut found);
    if profile != Profile::Mcp && !jsonschema::draft202012::meta::is_valid(schema) {
        found.push("META 2020-12".to_owned());
    }
    match profile {
        Profile::Anthropic | Profile::AnthropicStrict => {
            json_schema::anthropic(schema, &mut found);
            if strict {
                json_schema::anthropic_strict(schema, &mut found);
            }
        }
        Profile::OpenAiChat
        | Profile::OpenAiChatStrict
        | Profile::OpenAiResponses
        | Profile::OpenAiResponsesStrict => {
            openai::plain(schema, &mut found);
            if strict {
                openai::strict(schema, &mut found);
            }
        }
        Profile::GeminiJson => gemini::check_json(schema, &mut found),
        Profile::Mistral => {
            let valid = jsonschema::draft7::meta::is_valid(schema);
            expect(&mut found, valid, "M-META");
        }
        Profile::Kimi => json_schema::moonshot(schema, &mut found),
        Profile::Groq => json_schema::walk(schema, "", &mut |node, at| {
            if node.get("required").is_some() && node.get("properties").is_none() {
                found.push(format!("Q-REQPROPS {at}"));
            }
        }),
        Profile::Generic => {
            openai::plain(schema, &mut found);
            json_schema::walk(schema, "", &mut |node, at| {
                for key in ["$ref", "allOf", "oneOf", "not", "if", "prefixItems"] {
                    if node.get(key).is_some() {
                        found.push(format!("GENERIC {key} {at}"));
                    }
                }
            });
        }
        _ => {}
    }
    found
}

pub(crate) fn expect(found: &mut Vec<Refused>, holds: bool, rule: &str) {
    if !holds {
        found.push(rule.to_owned());
    }
}
