//! The tool runtime: one facade over definition, registry, permission, storage, built-ins and MCP.
