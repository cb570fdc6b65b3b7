//! Managed retention of oversized tool output.
