//! Every rule, by who has it.

mod anthropic;
mod gemini;
mod general;
mod kimi;
mod openai;
mod others;

use super::rule::LintRule;

const BY_PROVIDER: [&[LintRule]; 6] = [
    general::RULES,
    others::RULES,
    anthropic::RULES,
    openai::RULES,
    gemini::RULES,
    kimi::RULES,
];

/// Every rule that a finding may name, in the order in which they are looked into.
///
/// ```
/// let rule = tool_provider::lint_rules().find(|rule| rule.id == "gemini/type-list");
/// assert!(rule.is_some_and(|rule| rule.profiles == [tool_provider::Profile::Gemini]));
/// ```
pub fn lint_rules() -> impl Iterator<Item = &'static LintRule> {
    BY_PROVIDER.into_iter().flatten()
}
