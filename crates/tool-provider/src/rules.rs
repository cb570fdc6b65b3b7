//! What a profile takes, as data. The passes read it, and so does the linter.

use serde_json::Value;

/// Where tool definitions go, and in what envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Envelope {
    Anthropic,
    Chat,
    Responses,
    Gemini,
    GeminiJson,
    Mcp,
}

/// What may be referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refs {
    /// Anything in `$defs`, with keywords beside.
    Free,
    /// Anything in `$defs`, and nothing beside the reference.
    Bare,
    /// Nothing: what is referred to is written out.
    Inline,
}

/// What may refer to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recursion {
    Free,
    /// Only by way of a property that is optional.
    Optional,
    /// Nothing.
    Never,
}

/// How several types are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unions {
    /// In any way of the dialect.
    Free,
    /// As `anyOf` or as a list of types.
    Listed,
    /// As `anyOf` without anything that constrains beside it.
    Split,
    /// As `anyOf`, and null as `nullable`.
    Nullable,
}

/// What may be enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enums {
    Free,
    /// Whatever is no array and no object.
    Primitive,
    /// Values of one type, and null.
    OneType,
    /// Strings and numbers.
    Scalars,
    /// Strings that are not empty.
    Strings,
}

/// What becomes of a property that may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Optional {
    /// It may be left out.
    Free,
    /// It may be left out, and null says the same.
    OrNull,
    /// It is required, and null says that it is left out.
    AsNull,
}

/// Which names properties may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    Any,
    /// At the root `^[a-zA-Z0-9_.-]{1,64}$`.
    AnthropicRoot,
    /// None that reads as a keyword of the dialect, and no braces.
    Moonshot,
}

/// What one request takes at the most. `usize::MAX` is no limit that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestLimits {
    pub(crate) tools: usize,
    pub(crate) strict_tools: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// What one schema takes at the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchemaLimits {
    /// Levels of objects and arrays.
    pub(crate) depth: usize,
    pub(crate) properties: usize,
    pub(crate) enum_values: usize,
    /// Characters in names and enumerated strings.
    pub(crate) characters: usize,
    /// Bytes of compact JSON.
    pub(crate) bytes: usize,
    pub(crate) enumeration: Enumeration,
}

/// What one enumeration takes at the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Enumeration {
    pub(crate) values: usize,
    /// From more values than these on, their texts may have only so many characters in all.
    pub(crate) long: usize,
    pub(crate) characters: usize,
}

impl SchemaLimits {
    /// Whether no limit is known of a whole schema.
    pub(crate) fn is_none(self) -> bool {
        [
            self.depth,
            self.properties,
            self.enum_values,
            self.characters,
            self.bytes,
        ]
        .iter()
        .all(|most| *most == usize::MAX)
    }
}

impl Enumeration {
    /// What of an enumeration is too much, in words.
    pub(crate) fn excess(self, values: &[Value]) -> Option<String> {
        let count = values.len();
        if count > self.values {
            return Some(format!("{count} values, and may have {}", self.values));
        }
        let texts = values.iter().filter_map(Value::as_str);
        let characters: usize = texts.map(|it| it.chars().count()).sum();
        (count > self.long && characters > self.characters).then(|| {
            let most = self.characters;
            format!("{count} values of {characters} characters in all, and may have {most}")
        })
    }
}

/// What a provider holds definitions against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metaschema {
    /// The dialect that the schema names.
    Declared,
    Draft2020,
    Draft7,
    /// Rules of its own.
    None,
}

/// What a profile takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) envelope: Envelope,
    /// The provider holds the model to the schema.
    pub(crate) strict: bool,
    /// Schemas go as they are.
    pub(crate) verbatim: bool,
    #[cfg_attr(
        not(feature = "lint"),
        expect(dead_code, reason = "only the linter asks")
    )]
    pub(crate) metaschema: Metaschema,
    /// Combinators may stand at the root.
    pub(crate) root_combinators: bool,
    /// `allOf`, `oneOf`, `not`, conditions and boolean schemas may stand anywhere.
    pub(crate) combinators: bool,
    pub(crate) refs: Refs,
    pub(crate) recursion: Recursion,
    pub(crate) unions: Unions,
    pub(crate) enums: Enums,
    /// `None`: every keyword may stand.
    pub(crate) keywords: Option<&'static [&'static str]>,
    /// Formats with the type that they may stand on; `None`: any.
    pub(crate) formats: Option<&'static [(&'static str, &'static str)]>,
    /// An array says what its items are.
    pub(crate) items: bool,
    /// Every object is closed.
    pub(crate) closed: bool,
    pub(crate) optional: Optional,
    pub(crate) keys: Keys,
    /// An object below the root has a property.
    pub(crate) placeholder: bool,
    pub(crate) request: RequestLimits,
    pub(crate) schema: SchemaLimits,
}
