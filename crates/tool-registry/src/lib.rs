//! Scoped registration, request snapshots and the settlement pipeline.
