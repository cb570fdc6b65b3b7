//! Wire names: legal, injective, and a function of the identity alone.

use std::collections::HashMap;

use proptest::prelude::*;
use tool_core::{Identity, Namespace, Source, ToolName, WireName};

fn identity(namespace: Option<&str>, name: &str) -> Identity {
    let source = match namespace {
        Some(namespace) => Source::Plugin(Namespace::new(namespace).unwrap()),
        None => Source::Host,
    };
    Identity::new(&source, ToolName::new(name).unwrap())
}

fn wire(namespace: Option<&str>, name: &str) -> String {
    WireName::of(&identity(namespace, name)).to_string()
}

/// `^[A-Za-z][A-Za-z0-9_-]{0,63}$`
fn is_legal(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

#[test]
fn a_name_that_is_legal_stays_as_it_is() {
    for name in [
        "echo",
        "a",
        "get_item",
        "get-item",
        "A_b-C9",
        &"n".repeat(64),
    ] {
        assert_eq!(wire(None, name), name);
    }
    assert_eq!(wire(Some("acme"), "echo"), "acme__echo");
    assert_eq!(wire(Some("acme"), "2d_scene"), "acme__2d_scene");
    let name = "n".repeat(58);
    assert_eq!(wire(Some("acme"), &name), format!("acme__{name}"));
}

#[test]
fn wire_names_are_what_they_were() {
    // A saved permission names them: this table may grow and never change.
    let long = "n".repeat(65);
    for (namespace, name, expected) in [
        (None, "db.query", "db_query-xec9ab0bb7936"),
        (None, "123", "t123-x6324e5482e8b"),
        (None, "_lookup", "t_lookup-xef70f7a2a7aa"),
        (None, "a__b", "a__b-xff717827e519"),
        (Some("a.b"), "c", "a_b__c-x55879609a80e"),
        (Some("acme"), "_x", "acme___x-x4fc97493034d"),
        (None, "数据", "t__-x1d1a37bcbf0a"),
        (
            None,
            "db_query-x000000000000",
            "db_query-x000000000000-x87567184cc98",
        ),
        (
            None,
            long.as_str(),
            "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn-xec0a73fda8b5",
        ),
    ] {
        assert_eq!(wire(namespace, name), expected);
    }
}

#[test]
fn a_name_of_65_characters_is_cut_and_one_of_64_is_not() {
    let long = "n".repeat(65);
    let short = wire(None, &long);
    assert_eq!(short.len(), 64);
    assert!(short.starts_with(&"n".repeat(50)) && short.contains("-x"));
    assert_ne!(short, wire(None, &"n".repeat(66)));
    // Together with the namespace and the separator it may be too long too.
    assert_eq!(wire(Some("acme"), &"n".repeat(59)).len(), 64);
}

/// Identities that were chosen to meet.
fn hostile() -> Vec<Identity> {
    let mut all = Vec::new();
    let (mut names, alphabet) = (vec![String::new()], ["a", "_", ".", "-", "é"]);
    for _ in 0..3 {
        names = names
            .iter()
            .flat_map(|name| alphabet.iter().map(move |c| format!("{name}{c}")))
            .chain(names.iter().cloned())
            .collect();
    }
    names.sort();
    names.dedup();
    names.retain(|name| !name.is_empty());
    for name in &names {
        all.push(identity(None, name));
        for namespace in names.iter().filter(|name| Namespace::new(name).is_ok()) {
            all.push(identity(Some(namespace), name));
        }
    }
    // Names that are the wire names of others.
    let imitations: Vec<_> = all.iter().map(wire_of).collect();
    all.extend(imitations.iter().map(|name| identity(None, name)));
    all.extend(imitations.iter().filter_map(|name| {
        let (namespace, name) = name.split_once("__")?;
        let namespace = Namespace::new(namespace).ok()?;
        Some(Identity::new(
            &Source::Server(namespace),
            ToolName::new(name).ok()?,
        ))
    }));
    all
}

fn wire_of(identity: &Identity) -> String {
    WireName::of(identity).to_string()
}

#[test]
fn no_two_of_all_short_hostile_identities_and_their_imitations_meet() {
    let mut seen: HashMap<String, Identity> = HashMap::new();
    for identity in hostile() {
        let wire = wire_of(&identity);
        assert!(is_legal(&wire), "{wire}");
        if let Some(other) = seen.insert(wire.clone(), identity.clone()) {
            assert_eq!(other, identity, "both are {wire}");
        }
    }
    assert!(seen.len() > 10_000);
}

#[test]
fn the_border_between_namespace_and_name_cannot_be_moved() {
    let pairs = [
        (identity(Some("a_"), "b"), identity(Some("a"), "_b")),
        (identity(Some("a__b"), "c"), identity(Some("a"), "b__c")),
        (identity(Some("a"), "b"), identity(None, "a__b")),
        (identity(Some("a.b"), "c"), identity(Some("a_b"), "c")),
        (identity(None, "a.b"), identity(None, "a_b")),
        (identity(None, "a b"), identity(None, "a.b")),
        (identity(None, "é"), identity(None, "e\u{301}")),
    ];
    for (one, other) in pairs {
        assert_ne!(wire_of(&one), wire_of(&other), "{one} and {other}");
    }
}

fn name() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        6 => prop::sample::select(vec!['a', 'b', '_', '-', '.', '/', ' ']),
        1 => prop::sample::select(vec!['é', '数', '🙂', '\u{200d}', 'ﬀ', 'İ']),
    ];
    let lengths = prop_oneof![1_usize..10, 48_usize..70];
    lengths
        .prop_flat_map(move |length| prop::collection::vec(character.clone(), length))
        .prop_map(|characters| characters.into_iter().collect::<String>())
        .prop_filter("blank", |name| ToolName::new(name).is_ok())
}

fn identities() -> impl Strategy<Value = Identity> {
    let namespace =
        prop::option::of(name().prop_filter("segment", |name| Namespace::new(name).is_ok()));
    (namespace, name()).prop_map(|(namespace, name)| identity(namespace.as_deref(), &name))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_wire_name_is_legal(identity in identities()) {
        let wire = wire_of(&identity);
        prop_assert!(is_legal(&wire), "{}", wire);
    }

    #[test]
    fn two_identities_have_two_wire_names(one in identities(), other in identities()) {
        prop_assert_eq!(one == other, WireName::of(&one) == WireName::of(&other));
    }

    #[test]
    fn two_identities_are_not_written_alike(one in identities(), other in identities()) {
        prop_assert_eq!(one == other, one.to_string() == other.to_string());
        // What is written, as the name of another: of the host, and of a namespace with a shorter name.
        let written = one.to_string();
        let imitation = identity(None, &written);
        prop_assert!(imitation == one || imitation.to_string() != written);
        for (at, _) in written.match_indices('/') {
            let (namespace, name) = (&written[..at], &written[at + 1..]);
            if Namespace::new(namespace).is_ok() && ToolName::new(name).is_ok() {
                let imitation = identity(Some(namespace), name);
                prop_assert!(imitation == one || imitation.to_string() != written);
            }
        }
    }

    #[test]
    fn a_name_that_imitates_a_wire_name_does_not_meet_it(identity_of in identities()) {
        let wire = wire_of(&identity_of);
        let imitation = identity(None, &wire);
        prop_assume!(imitation != identity_of);
        prop_assert_ne!(wire_of(&imitation), wire);
    }

    #[test]
    fn a_wire_name_is_a_function_of_the_identity_and_not_of_who_provides_it(
        namespace in name().prop_filter("segment", |name| Namespace::new(name).is_ok()),
        name in name(),
    ) {
        let name = || ToolName::new(&name).unwrap();
        let namespace = || Namespace::new(&namespace).unwrap();
        let plugin = Identity::new(&Source::Plugin(namespace()), name());
        let server = Identity::new(&Source::Server(namespace()), name());
        prop_assert_eq!(wire_of(&plugin), wire_of(&server));
    }
}
