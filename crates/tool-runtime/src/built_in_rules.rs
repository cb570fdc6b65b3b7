//! The rules that hold where nobody wrote any.

use tool_permission::{Layer, LoadError, Rule};

/// Rules for a gateway on a developer's folder: files of the workspace may be read, but those that
/// usually hold secrets are asked about, and retained output may be read back. Everything else is
/// left to rules of your own, and is asked about where there are none.
///
/// As deny beats ask beats allow in any layer, rules of your own can tighten these; an ask is
/// lifted by nothing but an answer.
///
/// # Errors
/// Never, unless the rule language changed under it: the tests hold it.
pub fn built_in_rules() -> Result<Layer, LoadError> {
    let secrets = ["**/.env", "**/.env.*", "**/*.pem", "**/id_rsa*"];
    let allow = [Rule::allow("read", "**"), Rule::allow("output", "*")];
    let ask = secrets.map(|pattern| Rule::ask("read", pattern));
    Layer::new("built in", allow.into_iter().chain(ask))
}
