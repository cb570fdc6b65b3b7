//! Registering: names, overlays, reports, and what others are told.

use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use serde_json::json;
use tool_core::{Namespace, ProblemKind, Source, Tool, ToolName};
use tool_registry::{Changes, Notice, Registrar, Registration, Registry, Settling, Snapshot};

use crate::tools::{call, echo, fixed, run};

fn plugin(namespace: &str) -> Source {
    Source::Plugin(Namespace::new(namespace).unwrap())
}

fn server(namespace: &str) -> Source {
    Source::Server(Namespace::new(namespace).unwrap())
}

fn names(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .definitions()
        .map(|definition| definition.name.to_string())
        .collect()
}

#[test]
fn a_namespace_is_joined_to_the_name_and_both_are_kept() {
    let registry = Registry::default();
    let _acme = registry
        .registrar(plugin("acme"))
        .register([("echo", echo())])
        .unwrap();
    let snapshot = registry.snapshot();
    let entry = snapshot.get("acme__echo").unwrap();
    assert_eq!(entry.identity().name().as_str(), "echo");
    assert_eq!(entry.identity().namespace().unwrap().as_str(), "acme");
    assert_eq!(entry.source(), &plugin("acme"));
    assert!(snapshot.get("echo").is_none());
    assert!(snapshot.get("acme/echo").is_none());
}

#[test]
fn every_entry_has_its_own_report_and_the_healthy_ones_register() {
    let long = "n".repeat(65);
    let registry = Registry::default();
    let registration = registry.registrar(Source::Host).register_healthy([
        ("before", fixed("x")),
        ("", fixed("x")),
        (long.as_str(), fixed("x")),
        ("echo.tool", fixed("x")),
        ("execute", fixed("x")),
        (
            "blank",
            Tool::dynamic(" ", json!({"type": "object"}), |_, _| async {
                Ok(json!(1))
            }),
        ),
        ("after", fixed("x")),
    ]);
    let refused: Vec<_> = registration
        .refused()
        .iter()
        .map(|entry| (entry.name(), entry.problems()[0].kind()))
        .collect();
    assert_eq!(
        refused,
        [
            ("", ProblemKind::Name),
            ("execute", ProblemKind::Name),
            ("blank", ProblemKind::Description)
        ]
    );
    let wires: Vec<_> = registration
        .entries()
        .iter()
        .map(|(_, wire)| wire.as_str().to_owned())
        .collect();
    assert_eq!(wires.len(), 4);
    assert_eq!((wires[0].as_str(), wires[3].as_str()), ("before", "after"));
    assert!(wires[1].len() == 64 && wires[1].starts_with("nnnn"));
    assert!(wires[2].starts_with("echo_tool-x"));
    assert_eq!(registry.snapshot().entries().len(), 4);
}

#[test]
fn one_refused_entry_refuses_a_whole_registration_and_all_refusals_are_told_at_once() {
    let registry = Registry::default();
    let _taken = registry
        .registrar(plugin("acme"))
        .register([("taken", fixed("x"))])
        .unwrap();
    let error = registry
        .registrar(server("acme"))
        .register([
            ("fine", fixed("x")),
            ("taken", fixed("x")),
            ("\u{7}bell", fixed("x")),
            ("twice", fixed("x")),
            ("twice", fixed("x")),
        ])
        .unwrap_err();
    let refused: Vec<_> = error
        .refused()
        .iter()
        .map(|entry| (entry.name(), entry.problems()[0].kind()))
        .collect();
    assert_eq!(
        refused,
        [
            ("taken", ProblemKind::Conflict),
            ("\u{7}bell", ProblemKind::Name),
            ("twice", ProblemKind::Conflict)
        ]
    );
    assert!(!error.to_string().contains('\u{7}'));
    assert_eq!(names(&registry.snapshot()), ["acme__taken"]);
}

#[test]
fn everything_that_is_wrong_with_a_tool_is_told_at_once() {
    let registry = Registry::default();
    let wrong = Tool::dynamic("", json!({"type": "array"}), |_, _| async { Ok(json!(1)) })
        .timeout(Duration::ZERO)
        .narrow_by(["from"]);
    let error = registry.register([("wrong", wrong)]).unwrap_err();
    let kinds: Vec<_> = error.refused()[0]
        .problems()
        .iter()
        .map(|problem| problem.kind())
        .collect();
    assert_eq!(
        kinds,
        [
            ProblemKind::Schema,
            ProblemKind::Description,
            ProblemKind::Declaration,
            ProblemKind::Declaration
        ]
    );
    assert!(
        error
            .to_string()
            .starts_with("tools were refused: \"wrong\": ")
    );
}

#[tokio::test]
async fn a_refused_overlay_leaves_the_earlier_tool_as_it_was() {
    let registry = crate::ports::open().build();
    let _echo = registry.register([("echo", fixed("first"))]).unwrap();
    let blank = Tool::dynamic("", json!({"type": "object"}), |_, _| async { Ok(json!(1)) });
    assert!(registry.register([("echo", blank)]).is_err());
    assert_eq!(call(&registry, "echo").await.text(), "first");
}

#[test]
fn a_tool_of_another_source_is_a_conflict_and_of_the_same_source_an_overlay() {
    let registry = Registry::default();
    let registrar = registry.registrar(plugin("acme"));
    let _first = registrar.register([("echo", echo())]).unwrap();
    let _second = registrar.register([("echo", echo())]).unwrap();
    let other = registry.registrar(server("acme"));
    let error = other.register([("echo", echo())]).unwrap_err();
    assert!(
        error.to_string().contains("plugin acme has registered"),
        "{error}"
    );
    assert!(
        registry
            .registrar(plugin("other"))
            .register([("echo", echo())])
            .is_ok()
    );
}

#[test]
fn names_that_providers_refuse_get_wire_names_that_start_with_a_letter() {
    let registry = Registry::default();
    let authored = [
        "2d_get_scene",
        "123",
        "_lookup",
        "-lookup",
        "get item",
        "数据",
        "🙂",
    ];
    let registration = registry
        .register(authored.map(|name| (name, fixed("x"))))
        .unwrap();
    for ((identity, wire), authored) in registration.entries().iter().zip(authored) {
        assert_eq!(identity.name().as_str(), authored);
        assert!(
            wire.as_str().starts_with(|c: char| c.is_ascii_alphabetic()),
            "{wire}"
        );
        assert!(registry.snapshot().get(wire.as_str()).is_some());
    }
}

#[tokio::test]
async fn names_that_read_alike_are_both_callable_and_the_registrant_is_told() {
    let of = async |order: [&'static str; 2]| {
        let registry = crate::ports::open().build();
        let registration = registry
            .register(order.map(|name| (name, fixed(name))))
            .unwrap();
        for (identity, wire) in registration.entries() {
            let said = call(&registry, wire.as_str()).await.text();
            assert_eq!(said, identity.name().as_str());
        }
        let alike = registration
            .notices()
            .iter()
            .filter(|notice| matches!(notice, Notice::Alike { name, .. } if *name == order[1]))
            .count();
        (names(&registry.snapshot()), alike)
    };
    let (there, told) = of(["echo.tool", "echo_tool"]).await;
    let (back, told_back) = of(["echo_tool", "echo.tool"]).await;
    assert_eq!(there, back);
    assert_eq!((told, told_back), (1, 1));
    assert_eq!(there.len(), 2);
    assert_eq!(there[0], "echo_tool");
}

#[test]
fn a_name_that_is_changed_is_told_to_the_registrant() {
    let registry = Registry::default();
    let registration = registry
        .register([("echo", fixed("x")), ("db.query", fixed("x"))])
        .unwrap();
    let [Notice::Renamed { name, wire }] = registration.notices() else {
        panic!("expected one notice: {:?}", registration.notices());
    };
    assert_eq!(name, "db.query");
    assert_eq!(wire, &registration.entries()[1].1);
}

/// Two names of one length whose hash tails are equal: found by trying 30 million names.
fn colliding() -> [String; 2] {
    ["19039985", "29376522"].map(|tail| format!("{}{tail}", "x".repeat(60)))
}

#[test]
fn two_names_that_were_made_to_have_one_wire_name_never_meet() {
    let [one, two] = colliding();
    let registry = Registry::default();
    let together = registry
        .registrar(Source::Host)
        .register_healthy([(&one, fixed("1")), (&two, fixed("2"))]);
    assert_eq!(together.entries().len(), 1);
    assert_eq!(together.refused()[0].name(), two);
    assert_eq!(
        together.refused()[0].problems()[0].kind(),
        ProblemKind::Conflict
    );
    drop(together);

    let first = registry.register([(&one, fixed("1"))]).unwrap();
    let error = registry.register([(&two, fixed("2"))]).unwrap_err();
    assert_eq!(
        error.refused()[0].problems()[0].kind(),
        ProblemKind::Conflict
    );
    assert_eq!(registry.snapshot().entries().len(), 1);
    drop(first);
    assert!(registry.register([(&two, fixed("2"))]).is_ok());
}

#[test]
fn the_reserved_name_is_reserved_without_a_namespace_only() {
    let registry = Registry::default();
    assert!(registry.register([("execute", fixed("x"))]).is_err());
    let registrar = registry.registrar(server("acme"));
    let _ours = registrar.register([("execute", fixed("x"))]).unwrap();
    assert_eq!(names(&registry.snapshot()), ["acme__execute"]);
    assert!(Namespace::new("slack..admin").is_err());
    assert!(ToolName::new("execute").is_ok());
}

#[tokio::test]
async fn changes_are_told_and_many_count_as_one() {
    let registry = Registry::default();
    let mut changes = registry.changes();
    let one = registry.register([("one", fixed("x"))]).unwrap();
    let two = registry.register([("two", fixed("x"))]).unwrap();
    assert!(changes.changed().await);
    assert_eq!(still(&mut changes).await, None);
    drop(one);
    assert_eq!(still(&mut changes).await, Some(true));
    assert!(registry.register([("", fixed("x"))]).is_err());
    assert_eq!(still(&mut changes).await, None);
    drop(two);
    drop(registry);
    // The last change is still told, and then that nothing changes any more.
    assert!(changes.changed().await);
    assert!(!changes.changed().await);
}

/// What waiting for a change gives at once.
async fn still(changes: &mut Changes) -> Option<bool> {
    use futures_util::FutureExt as _;
    changes.changed().now_or_never()
}

#[test]
fn a_snapshot_sees_what_its_own_thread_registered_before_whatever_others_do() {
    let registry = Registry::default();
    let many: Vec<_> = (0..300)
        .map(|n| (format!("tool_{n}"), fixed("x")))
        .collect();
    let _many = registry.register(many).unwrap();
    let threads = 4;
    let start = Arc::new(Barrier::new(threads));
    let workers: Vec<_> = (0..threads)
        .map(|thread| {
            let (registry, start) = (registry.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                let (name, tool) = (format!("mine_{thread}"), fixed("x"));
                start.wait();
                for _ in 0..300 {
                    let mine = registry.register([(&name, tool.clone())]).unwrap();
                    assert!(
                        registry.snapshot().get(&name).is_some(),
                        "it is not there yet"
                    );
                    drop(mine);
                    assert!(
                        registry.snapshot().get(&name).is_none(),
                        "it is still there"
                    );
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
}

/// A tool that owns the registration of another, as one that manages others does.
fn owner(owned: Registration) -> Tool {
    let owned = Arc::new(owned);
    run(move |_| {
        let owned = Arc::clone(&owned);
        async move { Ok(json!(owned.entries().len())) }
    })
}

#[test]
fn a_tool_may_own_registrations_in_its_own_registry() {
    let (done, ended) = mpsc::channel();
    // In a thread of its own, as what may go wrong is that it never ends.
    std::thread::spawn(move || {
        let registry = Registry::default();
        let with_owner = |name: &str| {
            let owned = registry.register([("owned", fixed("x"))]).unwrap();
            registry.register([(name, owner(owned))]).unwrap()
        };
        // Dropped while nothing else holds the tool.
        drop(with_owner("one"));
        // Dropped with the snapshot that held it last.
        let registration = with_owner("two");
        assert_eq!(names(&registry.snapshot()), ["owned", "two"]);
        drop(registration);
        let _ = registry.snapshot();
        // Dropped because it is refused.
        let owned = registry.register([("owned", fixed("x"))]).unwrap();
        let _taken = registry
            .registrar(plugin("acme"))
            .register([("taken", fixed("x"))])
            .unwrap();
        let refused = registry
            .registrar(server("acme"))
            .register([("taken", owner(owned))]);
        assert!(refused.is_err());
        let _ = registry.snapshot();
        done.send(names(&registry.snapshot())).unwrap();
    });
    let left = ended.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(left, ["acme__taken"]);
}

#[test]
fn handles_can_be_sent_and_shared() {
    fn sent_and_shared<T: Send + Sync + 'static>() {}
    fn sent<T: Send + 'static>() {}
    sent_and_shared::<Registry>();
    sent_and_shared::<Registrar>();
    sent_and_shared::<Registration>();
    sent_and_shared::<Snapshot>();
    sent_and_shared::<Changes>();
    sent::<Settling>();
    sent::<<Settling as IntoFuture>::IntoFuture>();
}
