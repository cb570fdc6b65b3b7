//! The rules of every profile, with the date and the place that they were read from.
//!
//! Read 2026-11-29. A limit or a name that a provider changes is changed here and nowhere else.

use crate::rules::{
    Enumeration, Enums, Envelope, Keys, Metaschema, Optional, Recursion, Refs, RequestLimits,
    Rules, SchemaLimits, Unions,
};

const NO_REQUEST_LIMIT: RequestLimits = RequestLimits {
    tools: usize::MAX,
    strict_tools: usize::MAX,
    optional: usize::MAX,
    unions: usize::MAX,
};
const NO_SCHEMA_LIMIT: SchemaLimits = SchemaLimits {
    depth: usize::MAX,
    properties: usize::MAX,
    enum_values: usize::MAX,
    characters: usize::MAX,
    bytes: usize::MAX,
    enumeration: Enumeration {
        values: usize::MAX,
        long: usize::MAX,
        characters: usize::MAX,
    },
};
const TOOLS_128: RequestLimits = RequestLimits {
    tools: 128,
    ..NO_REQUEST_LIMIT
};

/// Source: Model Context Protocol 2026-07-28, server/tools: the root says `"type": "object"`, the
/// schema is valid in its own dialect, and all of the dialect may be used.
pub(crate) const MCP: Rules = Rules {
    envelope: Envelope::Mcp,
    strict: false,
    verbatim: true,
    metaschema: Metaschema::Declared,
    root_combinators: true,
    combinators: true,
    refs: Refs::Free,
    recursion: Recursion::Free,
    unions: Unions::Free,
    enums: Enums::Free,
    keywords: None,
    formats: None,
    items: false,
    closed: false,
    optional: Optional::Free,
    keys: Keys::Any,
    placeholder: false,
    request: NO_REQUEST_LIMIT,
    schema: NO_SCHEMA_LIMIT,
};

/// Source: error texts of the Messages API, 2025-06 to 2026-09 (no combinator at the root, names of
/// properties, 2020-12); the official TypeScript SDK 1.14.0 (`InputSchema`).
pub(crate) const ANTHROPIC: Rules = Rules {
    metaschema: Metaschema::Draft2020,
    envelope: Envelope::Anthropic,
    verbatim: false,
    root_combinators: false,
    keys: Keys::AnthropicRoot,
    ..MCP
};

/// Source: platform.claude.com, structured outputs and strict tool use (closed objects, 20 strict
/// tools, 24 optional parameters, 16 unions, no recursion, no numeric or length bounds, ten
/// formats); the official SDKs 1.14.0 and 2.14.0 (keywords that they remove).
pub(crate) const ANTHROPIC_STRICT: Rules = Rules {
    strict: true,
    combinators: false,
    refs: Refs::Bare,
    recursion: Recursion::Never,
    unions: Unions::Listed,
    enums: Enums::Primitive,
    keywords: Some(&["default", "minItems", "pattern"]),
    formats: Some(&[
        ("string", "date-time"),
        ("string", "time"),
        ("string", "date"),
        ("string", "duration"),
        ("string", "email"),
        ("string", "hostname"),
        ("string", "uri"),
        ("string", "ipv4"),
        ("string", "ipv6"),
        ("string", "uuid"),
    ]),
    closed: true,
    request: RequestLimits {
        tools: usize::MAX,
        strict_tools: 20,
        optional: 24,
        unions: 16,
    },
    ..ANTHROPIC
};

/// Source: error texts of Chat Completions, 2024 to 2026 (root object with properties and without
/// combinators, items of arrays, 128 tools); the official SDKs 6.49.0 and 3.57.0 (names).
pub(crate) const OPENAI_CHAT: Rules = Rules {
    metaschema: Metaschema::Draft2020,
    envelope: Envelope::Chat,
    verbatim: false,
    root_combinators: false,
    items: true,
    request: TOOLS_128,
    ..MCP
};

/// Source: developers.openai.com, structured outputs, "Supported schemas", as of 2026-08-23; the
/// official SDK 6.49.0 (`lib/transform`); error texts 2024 to 2026 (bare references, types).
pub(crate) const OPENAI_CHAT_STRICT: Rules = Rules {
    strict: true,
    combinators: false,
    refs: Refs::Bare,
    unions: Unions::Listed,
    enums: Enums::Primitive,
    keywords: Some(&[
        "pattern",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ]),
    formats: Some(&[
        ("string", "date-time"),
        ("string", "time"),
        ("string", "date"),
        ("string", "duration"),
        ("string", "email"),
        ("string", "hostname"),
        ("string", "ipv4"),
        ("string", "ipv6"),
        ("string", "uuid"),
    ]),
    closed: true,
    optional: Optional::AsNull,
    schema: SchemaLimits {
        depth: 10,
        properties: 5_000,
        enum_values: 1_000,
        characters: 120_000,
        bytes: usize::MAX,
        enumeration: Enumeration {
            values: usize::MAX,
            long: 250,
            characters: 15_000,
        },
    },
    ..OPENAI_CHAT
};

/// Source: as for Chat Completions; here strictness is on unless it is said to be off.
pub(crate) const OPENAI_RESPONSES: Rules = Rules {
    envelope: Envelope::Responses,
    ..OPENAI_CHAT
};

/// Source: as for Chat Completions.
pub(crate) const OPENAI_RESPONSES_STRICT: Rules = Rules {
    envelope: Envelope::Responses,
    ..OPENAI_CHAT_STRICT
};

/// Source: npm @google/genai 2.32.0 (`Schema`, `FunctionDeclaration`, `Type`); error texts of
/// `generateContent` to 2026-09 (unknown names, empty objects, items, enums, formats).
pub(crate) const GEMINI: Rules = Rules {
    metaschema: Metaschema::None,
    envelope: Envelope::Gemini,
    verbatim: false,
    root_combinators: false,
    combinators: false,
    refs: Refs::Inline,
    recursion: Recursion::Never,
    unions: Unions::Nullable,
    enums: Enums::Strings,
    keywords: Some(&[
        "pattern",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ]),
    formats: Some(&[
        ("string", "date-time"),
        ("number", "float"),
        ("number", "double"),
        ("integer", "int32"),
        ("integer", "int64"),
    ]),
    items: true,
    placeholder: true,
    request: RequestLimits {
        tools: 512,
        ..NO_REQUEST_LIMIT
    },
    ..MCP
};

/// Source: npm @google/genai 2.32.0 (the list of `responseJsonSchema`, taken to hold for
/// `parametersJsonSchema` too: nothing beside a reference, cycles by optional properties only).
pub(crate) const GEMINI_JSON: Rules = Rules {
    metaschema: Metaschema::Draft2020,
    envelope: Envelope::GeminiJson,
    refs: Refs::Bare,
    recursion: Recursion::Optional,
    unions: Unions::Listed,
    enums: Enums::Scalars,
    keywords: Some(&[
        "prefixItems",
        "additionalProperties",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
    ]),
    formats: None,
    placeholder: false,
    ..GEMINI
};

/// Source: PyPI mistral-common 1.13.1 (names, draft 7); arrays are written without tuples, which
/// the two dialects spell differently.
pub(crate) const MISTRAL: Rules = Rules {
    metaschema: Metaschema::Draft7,
    envelope: Envelope::Chat,
    verbatim: false,
    ..MCP
};

/// Source: MoonshotAI/walle of 2026-06-29 (the validator and its prose); Moonshot's OpenAPI
/// description of 2026-08-21 (names, 128 tools).
pub(crate) const KIMI: Rules = Rules {
    envelope: Envelope::Chat,
    refs: Refs::Bare,
    recursion: Recursion::Free,
    unions: Unions::Split,
    enums: Enums::OneType,
    keywords: Some(&[
        "additionalProperties",
        "default",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    ]),
    formats: Some(&[]),
    placeholder: false,
    keys: Keys::Moonshot,
    request: TOOLS_128,
    schema: SchemaLimits {
        depth: 30,
        properties: 3_000,
        bytes: 120_000,
        enumeration: Enumeration {
            values: 1_000,
            long: 2_500,
            characters: 75_000,
        },
        ..NO_SCHEMA_LIMIT
    },
    ..GEMINI
};

/// Source: PyPI groq 0.37.1; error texts to 2026-08. The service validates the model's call against
/// the schema itself, so that null for an absent property has to fit.
pub(crate) const GROQ: Rules = Rules {
    metaschema: Metaschema::Draft2020,
    envelope: Envelope::Chat,
    verbatim: false,
    optional: Optional::OrNull,
    request: TOOLS_128,
    ..MCP
};

/// What every server that speaks as Chat Completions does is known to take: no references, no
/// tuples, no exotic keyword.
pub(crate) const GENERIC: Rules = Rules {
    metaschema: Metaschema::Draft2020,
    envelope: Envelope::Chat,
    refs: Refs::Inline,
    recursion: Recursion::Never,
    unions: Unions::Listed,
    enums: Enums::Primitive,
    keywords: Some(&[
        "additionalProperties",
        "default",
        "format",
        "pattern",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    ]),
    formats: None,
    placeholder: false,
    request: TOOLS_128,
    ..GEMINI
};
