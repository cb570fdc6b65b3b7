//! A registry with tools, and a server that offers it.

use tool_mcp::Server;
use tool_registry::{Registration, Registry};

use super::registry::{Running, permissive, tools};

pub(crate) struct Served {
    pub(crate) server: Server,
    pub(crate) registry: Registry,
    pub(crate) running: Running,
    _registration: Registration,
}

pub(crate) fn served() -> Served {
    let registry = permissive().build();
    let (tools, running) = tools();
    let registration = registry
        .register(tools)
        .expect("the tools are well defined");
    Served {
        server: Server::new(registry.clone()),
        registry,
        running,
        _registration: registration,
    }
}
