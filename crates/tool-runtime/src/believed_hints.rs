//! Tools that only read, by the word of servers that are believed.

use tool_core::{Action, BoxFuture, Capability, Decision, Policy, PolicyError, Request, Ruling};
use tool_mcp::ReadOnlyTools;

/// Allows calls of tools that only read, by the word of servers whose hints the operator believes,
/// where no rule of the policy is about them. What a rule asks or denies stays.
pub(crate) struct BelievedHints<P> {
    pub(crate) tools: ReadOnlyTools,
    pub(crate) policy: P,
}

impl<P> BelievedHints<P> {
    fn believe(&self, request: &Request<'_>, ruling: Ruling) -> Ruling {
        if ruling.decision != Decision::Ask
            || ruling.rule().is_some()
            || request.action != Action::CALL
        {
            return ruling;
        }
        match (request.tool, request.definition) {
            (Some(tool), Some(definition)) if self.tools.holds(tool, definition) => Ruling::new(
                Decision::Allow,
                "no rule is about it, its server says that it only reads, and is believed",
            ),
            _ => ruling,
        }
    }
}

impl<P: Policy> Policy for BelievedHints<P> {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async move {
            let ruling = self.policy.decide(request).await?;
            Ok(self.believe(request, ruling))
        })
    }

    fn decide_at_once(&self, request: &Request<'_>) -> Option<Result<Ruling, PolicyError>> {
        let ruling = self.policy.decide_at_once(request)?;
        Some(ruling.map(|ruling| self.believe(request, ruling)))
    }

    fn governs(&self, capability: &Capability) -> bool {
        self.policy.governs(capability)
    }
}
