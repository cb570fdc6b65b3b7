//! What may be put right in arguments, and what was.

use std::fmt;

/// One repair of a call's arguments. It names a rule and a place, never a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// JSON pointer of the repaired place.
    pub path: String,
    /// The rule that repaired it.
    pub rule: RepairRule,
}

impl Repair {
    /// A repair at a place by a rule.
    pub fn new(path: impl Into<String>, rule: RepairRule) -> Self {
        Self {
            path: path.into(),
            rule,
        }
    }
}

/// A rule by which arguments are put right, where only one reading is left.
///
/// Rules are tried in this order, and only on arguments that the tool's schema refuses;
/// [`WholeNumber`](Self::WholeNumber) alone changes how a number is held that the schema takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RepairRule {
    /// Empty or blank text and `null` are an empty object.
    EmptyArguments,
    /// A code fence around the whole text is taken off.
    CodeFence,
    /// Closing tags of tool calls after the text are taken off.
    ClosingTag,
    /// A JSON string that holds the object is decoded, once.
    EncodedArguments,
    /// A key that a client is known to add, and a closed schema does not declare, is removed.
    InjectedKey,
    /// A string is decoded, once, where the schema takes no string in any branch.
    EncodedValue,
    /// `null` of a declared optional property that takes no null is removed.
    NullOptional,
    /// A number without a fraction is held as an integer where the schema wants one.
    WholeNumber,
}

impl RepairRule {
    /// Every rule, in the order in which they are tried.
    pub const ALL: [Self; 8] = [
        Self::EmptyArguments,
        Self::CodeFence,
        Self::ClosingTag,
        Self::EncodedArguments,
        Self::InjectedKey,
        Self::EncodedValue,
        Self::NullOptional,
        Self::WholeNumber,
    ];

    /// The name in records and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmptyArguments => "empty_arguments",
            Self::CodeFence => "code_fence",
            Self::ClosingTag => "closing_tag",
            Self::EncodedArguments => "encoded_arguments",
            Self::InjectedKey => "injected_key",
            Self::EncodedValue => "encoded_value",
            Self::NullOptional => "null_optional",
            Self::WholeNumber => "whole_number",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for RepairRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which rules may put arguments right. All by default.
///
/// ```
/// use tool_core::{RepairRule, Repairs};
///
/// let repairs = Repairs::ALL.without(RepairRule::NullOptional);
/// assert!(repairs.contains(RepairRule::CodeFence));
/// assert!(!repairs.contains(RepairRule::NullOptional));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repairs(u16);

impl Repairs {
    /// Every rule.
    pub const ALL: Self = Self((1 << RepairRule::ALL.len()) - 1);
    /// No rule: what does not fit as it came is refused.
    pub const NONE: Self = Self(0);

    /// The same and this rule.
    #[must_use]
    pub const fn with(self, rule: RepairRule) -> Self {
        Self(self.0 | rule.bit())
    }

    /// The same without this rule.
    #[must_use]
    pub const fn without(self, rule: RepairRule) -> Self {
        Self(self.0 & !rule.bit())
    }

    /// Whether the rule may be used.
    #[must_use]
    pub const fn contains(self, rule: RepairRule) -> bool {
        self.0 & rule.bit() != 0
    }
}

impl Default for Repairs {
    fn default() -> Self {
        Self::ALL
    }
}

impl FromIterator<RepairRule> for Repairs {
    fn from_iter<T: IntoIterator<Item = RepairRule>>(rules: T) -> Self {
        rules.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Debug for Repairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = RepairRule::ALL.into_iter();
        f.debug_set()
            .entries(rules.filter(|rule| self.contains(*rule)))
            .finish()
    }
}
