//! What kind of machine stands behind an address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of machine stands behind an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One that everybody reaches.
    Public,
    /// This one.
    Loopback,
    /// One of the own network.
    Private,
    /// None that anybody means: the services of a cloud's host, groups, and addresses that are
    /// set aside.
    Reserved,
}

impl Kind {
    /// Source: the special-purpose address registries of IANA (RFC 6890), as of 2025.
    pub(crate) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        let [a, b, c, _] = address.octets();
        match (a, b, c) {
            (127, ..) => Self::Loopback,
            (10, ..) | (192, 168, _) | (172, 16..=31, _) | (100, 64..=127, _) => Self::Private,
            (0 | 224.., ..)
            | (169, 254, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113) => Self::Reserved,
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        let segments = address.segments();
        if address == Ipv6Addr::LOCALHOST {
            return Self::Loopback;
        }
        match segments {
            // Written in IPv4: mapped, translated, tunnelled and the oldest form.
            [0, 0, 0, 0, 0, 0xffff, high, low]
            | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
            | [0x2002, high, low, ..]
            | [0, 0, 0, 0, 0, 0, high, low]
                if address != Ipv6Addr::UNSPECIFIED =>
            {
                let [a, b] = high.to_be_bytes();
                let [c, d] = low.to_be_bytes();
                Self::of_v4(Ipv4Addr::new(a, b, c, d))
            }
            [0xfc00..=0xfdff, ..] => Self::Private,
            [0x2001, 0xdb8, ..] | [0x2001, 0, ..] => Self::Reserved,
            [0x2000..=0x3fff, ..] => Self::Public,
            _ => Self::Reserved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn addresses_are_told_apart_however_they_are_written() {
        for (address, kind) in [
            ("8.8.8.8", Kind::Public),
            ("2606:4700::1111", Kind::Public),
            ("127.8.0.1", Kind::Loopback),
            ("::1", Kind::Loopback),
            ("::ffff:127.0.0.1", Kind::Loopback),
            ("10.0.0.9", Kind::Private),
            ("172.16.0.1", Kind::Private),
            ("172.32.0.1", Kind::Public),
            ("192.168.1.1", Kind::Private),
            ("100.64.0.1", Kind::Private),
            ("100.128.0.1", Kind::Public),
            ("fd00::1", Kind::Private),
            ("::ffff:10.0.0.9", Kind::Private),
            ("64:ff9b::a00:9", Kind::Private),
            ("2002:a00:9::1", Kind::Private),
            ("::10.0.0.9", Kind::Private),
            ("169.254.169.254", Kind::Reserved),
            ("::ffff:169.254.169.254", Kind::Reserved),
            ("0.0.0.0", Kind::Reserved),
            ("::", Kind::Reserved),
            ("224.0.0.1", Kind::Reserved),
            ("255.255.255.255", Kind::Reserved),
            ("198.18.0.1", Kind::Reserved),
            ("fe80::1", Kind::Reserved),
            ("ff02::1", Kind::Reserved),
            ("2001:db8::1", Kind::Reserved),
            ("64:ff9b:1::1", Kind::Reserved),
        ] {
            let parsed = address.parse().expect("it is one");
            assert_eq!(Kind::of(parsed), kind, "{address}");
        }
    }
}
