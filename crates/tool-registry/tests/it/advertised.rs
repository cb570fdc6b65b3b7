//! Tools that are advertised by another name than their identity gives, and what names them.

use tool_core::{Namespace, ProblemKind, Source, Tool, WireName};
use tool_registry::{Registrar, Registration, Registry};

use crate::tools::{call, fixed};

fn acme(registry: &Registry) -> Registrar {
    registry.registrar(Source::Plugin(Namespace::new("acme").unwrap()))
}

fn register(registrar: &Registrar, name: &str, advertised: &str, tool: Tool) -> Registration {
    let advertised = WireName::parse(advertised);
    assert!(advertised.is_some());
    registrar.register_healthy_as([(name, tool, advertised)])
}

#[test]
fn a_tool_of_a_namespace_names_itself_by_wire_name_or_identity_and_not_by_its_name_alone() {
    let registry = Registry::default();
    let problems = |registrar: &Registrar, tool: Tool| {
        let registration = registrar.register_healthy([("echo", tool)]);
        let refused = registration.refused().iter();
        refused
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("")
    };
    let (acme, host) = (acme(&registry), registry.registrar(Source::Host));
    for itself in ["acme__echo", "acme/echo"] {
        let from = problems(&acme, fixed("x").arguments_from(["other", itself]));
        assert!(
            from.contains("arguments_from names the tool itself"),
            "{from}"
        );
        let of = problems(&acme, fixed("x").composed_of([itself]));
        assert!(of.contains("composed_of names the tool itself"), "{of}");
        // To anybody else it is another tool.
        assert_eq!(problems(&host, fixed("x").composed_of([itself])), "");
    }
    assert_eq!(problems(&acme, fixed("x").composed_of(["echo"])), "");
    let of = problems(&host, fixed("x").composed_of(["echo"]));
    assert!(of.contains("composed_of names the tool itself"), "{of}");

    let renamed = register(&acme, "echo", "shout", fixed("x").composed_of(["shout"]));
    assert!(
        renamed.refused()[0]
            .to_string()
            .contains("names the tool itself")
    );
    let renamed = register(
        &acme,
        "echo",
        "shout",
        fixed("x").composed_of(["acme__echo"]),
    );
    assert!(renamed.refused().is_empty());
}

#[test]
fn no_tool_is_advertised_by_the_reserved_name() {
    let registry = Registry::default();
    for registrar in [acme(&registry), registry.registrar(Source::Host)] {
        let registration = register(&registrar, "run", "execute", fixed("x"));
        let [refused] = registration.refused() else {
            panic!("it is registered")
        };
        assert_eq!(refused.problems()[0].kind(), ProblemKind::Name);
        assert!(
            refused.to_string().contains("\"execute\" is reserved"),
            "{refused}"
        );
    }
    // What is called by another name may be named so, in a namespace and without.
    let host = registry.registrar(Source::Host);
    let registration = register(&host, "execute", "run", fixed("x"));
    assert!(registration.refused().is_empty());
}

#[test]
fn one_tool_is_not_advertised_twice_by_one_registration() {
    let registry = Registry::default();
    let twice = ["a", "b"].map(|wire| ("echo", fixed("x"), WireName::parse(wire)));
    let registration = acme(&registry).register_healthy_as(twice);
    assert_eq!(registration.refused().len(), 1);
    assert!(
        registration.refused()[0]
            .to_string()
            .contains("given twice")
    );
}

#[tokio::test]
async fn a_name_is_free_again_when_no_layer_is_advertised_by_it() {
    let registry = Registry::default();
    let acme = acme(&registry);
    let free = |name: &str| {
        let taken = register(
            &registry.registrar(Source::Host),
            "other",
            name,
            fixed("other"),
        );
        taken.refused().is_empty()
    };
    let below = register(&acme, "x", "a", fixed("below"));
    let above = register(&acme, "x", "b", fixed("above"));
    let topmost = register(&acme, "x", "b", fixed("topmost"));
    // What is below comes back by its own name, which nobody else may take before.
    assert!(!free("a") && !free("b"));
    drop(topmost);
    assert!(!free("b"));
    drop(above);
    assert!(!free("a") && free("b"));
    assert_eq!(
        call(&registry, "a").await.outcome.as_str(),
        "refused",
        "nobody was asked"
    );
    drop(below);
    assert!(free("a") && free("b"));
}
