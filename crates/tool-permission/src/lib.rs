//! Permission rules, approvals and the decision on what a tool may do.
