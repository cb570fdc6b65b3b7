//! Names as authored.

use tool_core::{Identity, Namespace, ProblemKind, Source, ToolName};

#[test]
fn whatever_a_person_can_read_is_a_name() {
    for name in [
        "echo", "db.query", "get item", "2d", "_x", "-x", "数据", "🙂", "a/b", "é",
    ] {
        assert_eq!(ToolName::new(name).unwrap().as_str(), name);
        assert_eq!(ToolName::new(name).unwrap().to_string(), name);
    }
}

#[test]
fn blank_control_and_endless_names_are_refused_with_a_reason() {
    let longest = "n".repeat(512);
    assert!(ToolName::new(&longest).is_ok());
    for (name, reason) in [
        (String::new(), "blank"),
        (" \u{a0}".to_owned(), "blank"),
        ("a\nb".to_owned(), "control character"),
        ("a\u{1b}[31m".to_owned(), "control character"),
        ("a\0".to_owned(), "control character"),
        (format!("{longest}n"), "513 bytes"),
        ("é".repeat(257), "514 bytes"),
    ] {
        for problem in [
            ToolName::new(&name).unwrap_err(),
            Namespace::new(&name).unwrap_err(),
        ] {
            assert_eq!(problem.kind(), ProblemKind::Name);
            assert!(problem.to_string().contains(reason), "{problem}");
            assert!(!problem.to_string().chars().any(char::is_control));
        }
    }
}

#[test]
fn no_segment_of_a_namespace_is_blank() {
    for namespace in ["slack", "slack.admin", "a-b_c.d"] {
        assert!(Namespace::new(namespace).is_ok());
    }
    for namespace in ["slack..admin", ".slack", "slack.", ".", "a. .b"] {
        let problem = Namespace::new(namespace).unwrap_err();
        assert!(problem.to_string().contains("blank segment"), "{problem}");
    }
}

#[test]
fn a_namespace_ends_where_an_identity_has_its_first_slash() {
    for namespace in ["a/b", "/a", "a/", "/"] {
        let problem = Namespace::new(namespace).unwrap_err();
        assert_eq!(problem.kind(), ProblemKind::Name);
        assert!(problem.to_string().contains("holds a \"/\""), "{problem}");
        assert!(
            problem.to_string().contains("write another character"),
            "{problem}"
        );
    }
}

#[test]
fn an_identity_is_the_namespace_and_the_name_and_not_who_provides() {
    let acme = || Namespace::new("acme").unwrap();
    let name = || ToolName::new("echo").unwrap();
    let plugin = Identity::new(&Source::Plugin(acme()), name());
    let server = Identity::new(&Source::Server(acme()), name());
    let host = Identity::new(&Source::Host, name());
    assert_eq!(plugin, server);
    assert_ne!(plugin, host);
    assert_eq!(
        (plugin.to_string(), host.to_string()),
        ("acme/echo".into(), "echo".into())
    );
}
