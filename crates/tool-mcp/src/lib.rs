//! MCP in both directions: import servers as tools, serve a registry.
