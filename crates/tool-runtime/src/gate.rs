//! Who decides in a runtime, and who is asked.

use std::sync::Arc;

use tool_core::Permission;

use crate::{RuntimeBuilder, RuntimeError};

impl RuntimeBuilder {
    #[cfg(not(feature = "permission"))]
    pub(crate) fn take_permission(
        &self,
        #[cfg(feature = "storage")] _kept: Option<&Arc<dyn tool_core::State>>,
    ) -> Result<(Permission, ()), RuntimeError> {
        let closed = || Permission::new(tool_core::ClosedPolicy, Arc::clone(&self.approver));
        Ok((self.permission.clone().unwrap_or_else(closed), ()))
    }

    #[cfg(feature = "permission")]
    pub(crate) fn take_permission(
        &self,
        #[cfg(feature = "storage")] kept: Option<&Arc<dyn tool_core::State>>,
    ) -> Result<(Permission, Option<tool_permission::Desk>), RuntimeError> {
        use tool_permission::{Desk, Layer, RulePolicy};

        if let Some(permission) = &self.permission {
            return Ok((permission.clone(), None));
        }
        let mut layers = self.layers.clone();
        for path in &self.policies {
            layers.push(Layer::load(path)?);
        }
        #[cfg(feature = "builtin")]
        let root = self.workspace.as_deref();
        #[cfg(not(feature = "builtin"))]
        let root: Option<&std::path::Path> = None;
        let mut policy = RulePolicy::new(layers).home_of_user();
        if let Some(root) = root {
            policy = policy.workspace(root);
        }
        #[cfg(feature = "storage")]
        if let Some(kept) = kept {
            policy = policy.approvals(crate::kept::approvals(Arc::clone(kept), root));
        }
        let policy = Arc::new(policy);
        let gate = self.gate(Arc::clone(&policy));
        let desk = match self.desk {
            None => return Ok((Permission::new(gate, Arc::clone(&self.approver)), None)),
            Some(None) => Desk::new(policy),
            Some(Some(deadline)) => Desk::with_deadline(policy, deadline),
        };
        Ok((Permission::new(gate, desk.clone()), Some(desk)))
    }

    /// The rules, with what stands around them.
    #[cfg(feature = "permission")]
    fn gate(&self, rules: Arc<tool_permission::RulePolicy>) -> Arc<dyn tool_core::Policy> {
        #[cfg(feature = "mcp-child")]
        let rules = crate::believed_hints::BelievedHints {
            tools: self.believed.clone(),
            policy: rules,
        };
        match &self.failing {
            None => Arc::new(rules),
            Some(failing) => Arc::new(failing.ahead_of(rules)),
        }
    }
}
