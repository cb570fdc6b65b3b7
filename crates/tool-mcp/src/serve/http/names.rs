//! By which names the server may be called, and from which pages.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

/// Names of this machine for itself; by each it may be called, from whatever port.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// By which names the server may be called, and from which pages.
///
/// So no web page of others can reach the tools through a name of its own that it lets point to
/// this machine.
#[derive(Debug)]
pub(crate) struct Names {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
}

#[derive(Debug, PartialEq)]
struct Host {
    name: String,
    port: Option<u16>,
}

#[derive(Debug)]
struct Origin {
    scheme: String,
    name: String,
    /// Any port where there is none.
    port: Option<u16>,
}

impl Names {
    /// The names of the loopback interface, and these.
    pub(crate) fn and(hosts: &[String], origins: &[String]) -> Self {
        let own = LOOPBACK.map(|name| Host {
            name: name.to_owned(),
            port: None,
        });
        let pages = ["http", "https"].into_iter().flat_map(|scheme| {
            LOOPBACK.map(|name| Origin {
                scheme: scheme.to_owned(),
                name: name.to_owned(),
                port: None,
            })
        });
        Self {
            hosts: own
                .into_iter()
                .chain(hosts.iter().filter_map(|host| Host::read(host)))
                .collect(),
            origins: pages
                .chain(origins.iter().filter_map(|origin| Origin::allowed(origin)))
                .collect(),
        }
    }

    /// Whether every name in the request is one of them. A request that names no host is refused,
    /// and so is one from a page that does not say which.
    pub(crate) fn allow(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter().peekable();
        let mut origins = headers.get_all(ORIGIN).iter();
        hosts.peek().is_some()
            && hosts.all(|host| host.to_str().is_ok_and(|host| self.allows_host(host)))
            && origins.all(|origin| {
                origin
                    .to_str()
                    .is_ok_and(|origin| self.allows_origin(origin))
            })
    }

    fn allows_host(&self, host: &str) -> bool {
        Host::read(host).is_some_and(|host| {
            self.hosts.iter().any(|allowed| {
                allowed.name == host.name && (allowed.port.is_none() || allowed.port == host.port)
            })
        })
    }

    fn allows_origin(&self, origin: &str) -> bool {
        let Some((scheme, host)) = origin.split_once("://") else {
            return false;
        };
        let Some(host) = Host::read(host) else {
            return false;
        };
        let port = host.port.or_else(|| default_port(scheme));
        self.origins.iter().any(|allowed| {
            allowed.scheme.eq_ignore_ascii_case(scheme)
                && allowed.name == host.name
                && (allowed.port.is_none() || allowed.port == port)
        })
    }
}

impl Host {
    /// A name with or without a port. `None` for what is neither.
    fn read(text: &str) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (name, port) = rest.split_once(']')?;
                (name, port.strip_prefix(':'))
            }
            // An address without brackets is only ever given by the host.
            None if text.matches(':').count() > 1 => (text, None),
            None => match text.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (text, None),
            },
        };
        if name.is_empty() || name.contains(['/', '@', '?', '#', ' ']) {
            return None;
        }
        let port = match port {
            Some(port) => Some(port.parse().ok()?),
            None => None,
        };
        Some(Self {
            name: name.to_ascii_lowercase(),
            port,
        })
    }
}

impl Origin {
    /// An origin as an operator allows it: `:*` stands for any port.
    fn allowed(text: &str) -> Option<Self> {
        let (scheme, host) = text.trim_end_matches('/').split_once("://")?;
        let (host, any) = match host.strip_suffix(":*") {
            Some(host) => (host, true),
            None => (host, false),
        };
        let Host { name, port } = Host::read(host)?;
        Some(Self {
            port: match any {
                true => None,
                // Port 0 is nobody's, so that a scheme without a port of its own matches nothing.
                false => port.or_else(|| default_port(scheme)).or(Some(0)),
            },
            scheme: scheme.to_ascii_lowercase(),
            name,
        })
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}
