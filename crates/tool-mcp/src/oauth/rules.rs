//! Where requests of a login may go.

use std::net::IpAddr;

use reqwest::Url;

use super::address::Kind;
use super::client::OAuthClient;

/// Where requests of one server's login may go: encrypted to the open net, and elsewhere only as
/// far as the operator has said so.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// The host of the server itself, which is reached anyhow.
    own: String,
    /// Whether the server is on this machine; only then may others of its login be.
    is_local: bool,
    private_hosts: Vec<String>,
}

impl Rules {
    pub(crate) fn new(server: &Url, client: &OAuthClient) -> Self {
        let own = server.host_str().unwrap_or_default();
        Self {
            own: plain(own),
            is_local: is_local(own),
            private_hosts: client
                .private_hosts
                .iter()
                .map(|host| plain(host))
                .collect(),
        }
    }

    /// Whether a request may be sent there, as far as its text tells. What is wrong is a clause
    /// that follows on "the address".
    pub(crate) fn check(&self, url: &Url) -> Result<(), String> {
        let host = url.host_str().unwrap_or_default();
        let shown = shown(url);
        if host.is_empty() || !url.username().is_empty() || url.password().is_some() {
            return Err(format!("{shown} names no host, or somebody to log in as"));
        }
        match url.scheme() {
            "https" => {}
            "http" if self.is_local && is_local(host) => {}
            "http" => return Err(format!("{shown} is not encrypted")),
            _ => return Err(format!("{shown} is neither https nor http")),
        }
        match literal(host) {
            Some(address) if !self.allows(host, address) => Err(format!(
                "{shown} leads into a network that is nobody else's business"
            )),
            // What a name leads to is looked at when it is connected to.
            _ => Ok(()),
        }
    }

    /// Whether a host may be connected to at an address.
    pub(crate) fn allows(&self, host: &str, address: IpAddr) -> bool {
        let host = plain(host);
        match Kind::of(address) {
            // A name of this machine, to which less is encrypted, leads nowhere else.
            kind if kind != Kind::Loopback && is_local(&host) => false,
            Kind::Public => true,
            Kind::Loopback => self.is_local || host == self.own,
            Kind::Private => host == self.own || self.private_hosts.contains(&host),
            Kind::Reserved => false,
        }
    }
}

/// An address without what may be secret in it.
pub(crate) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // They fail for addresses that cannot have one.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    let text: String = shown.as_str().chars().take(200).collect();
    format!("\"{}\"", text.escape_debug())
}

/// Whether a host is this machine, as far as its name tells.
pub(crate) fn is_local(host: &str) -> bool {
    match literal(host) {
        Some(address) => Kind::of(address) == Kind::Loopback,
        None => {
            let host = plain(host);
            host == "localhost" || host.ends_with(".localhost")
        }
    }
}

fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

fn plain(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::Rules;
    use crate::oauth::OAuthClient;

    fn rules(server: &str, client: &OAuthClient) -> Rules {
        Rules::new(&Url::parse(server).expect("it is one"), client)
    }

    #[test]
    fn unencrypted_addresses_and_such_of_this_machine_are_for_servers_of_this_machine() {
        let (far, near) = ("https://mcp.example.com/mcp", "http://localhost:1/mcp");
        for (server, url, allowed) in [
            (far, "https://as.example.com/x", true),
            (far, "http://as.example.com/x", false),
            (far, "http://localhost:1/x", false),
            (far, "https://127.0.0.1/x", false),
            (far, "https://[::1]/x", false),
            (far, "https://[::ffff:10.0.0.1]/x", false),
            (far, "https://169.254.169.254/latest", false),
            (far, "https://user@as.example.com/x", false),
            (far, "ftp://as.example.com/x", false),
            (near, "http://127.0.0.1:2/x", true),
            (near, "http://localhost:2/x", true),
            (near, "http://as.example.com/x", false),
            (near, "https://10.0.0.1/x", false),
        ] {
            let rules = rules(server, &OAuthClient::default());
            let parsed = Url::parse(url).expect("it is one");
            assert_eq!(rules.check(&parsed).is_ok(), allowed, "{server} {url}");
        }
    }

    #[test]
    fn a_name_leads_into_the_own_network_only_where_it_is_the_servers_or_was_allowed() {
        let client = OAuthClient::default().private_host("SSO.corp");
        let rules = rules("https://mcp.corp/mcp", &client);
        let private = "10.0.0.9".parse().expect("it is one");
        assert!(rules.allows("mcp.corp", private));
        assert!(rules.allows("sso.corp.", private));
        assert!(!rules.allows("other.corp", private));
        let metadata = "169.254.169.254".parse().expect("it is one");
        assert!(!rules.allows("mcp.corp", metadata));
        assert!(!rules.allows("sso.corp", metadata));
    }

    #[test]
    fn a_name_of_this_machine_leads_nowhere_else() {
        let client = OAuthClient::default().private_host("as.localhost");
        let rules = rules("http://as.localhost:1/mcp", &client);
        for (address, allowed) in [
            ("127.0.0.1", true),
            ("::1", true),
            ("192.0.2.1", false),
            ("93.184.216.34", false),
            ("2606:4700::1", false),
            ("10.0.0.9", false),
        ] {
            let address = address.parse().expect("it is one");
            for host in ["as.localhost", "LOCALHOST."] {
                assert_eq!(rules.allows(host, address), allowed, "{host} {address}");
            }
        }
    }

    #[test]
    fn what_is_shown_of_an_address_holds_no_query() {
        let rules = rules("https://mcp.example.com/mcp", &OAuthClient::default());
        let url = Url::parse("http://as.example.com/x?code=canary").expect("it is one");
        let refused = rules.check(&url).expect_err("it is not encrypted");
        assert_eq!(refused, "\"http://as.example.com/x\" is not encrypted");
    }
}
