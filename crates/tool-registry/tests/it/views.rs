//! Hooks on requests: withdrawing, renaming and describing anew.

use tool_core::{Call, Facts, RefusalKind, Settlement};
use tool_registry::{Registry, RequestHook, View, ViewError};

use crate::ports::{Log, open};
use crate::tools::{fixed, refusal};

async fn settle(snapshot: &tool_registry::Snapshot, name: &str) -> Settlement {
    snapshot.settle(Call::new(name, "{}"), &Facts::new()).await
}

fn registry() -> Registry {
    let registry = open().build();
    let tools = [("hidden", fixed("hidden")), ("echo", fixed("echo"))];
    registry.register(tools).unwrap().keep();
    registry
}

#[tokio::test]
async fn a_withdrawn_or_renamed_tool_is_unavailable_for_that_request_alone() {
    let registry = registry();
    let request = registry.snapshot();
    let changed = request
        .with_view(|view| {
            view.withdraw("hidden")?;
            view.rename("echo", "alias")?;
            view.redescribe("alias", "Echoes")
        })
        .unwrap();
    let names: Vec<_> = changed
        .definitions()
        .map(|definition| definition.name.to_string())
        .collect();
    assert_eq!(names, ["alias"]);
    assert_eq!(
        changed.get("alias").unwrap().definition().description,
        "Echoes"
    );
    assert_eq!(settle(&changed, "alias").await.text(), "echo");
    for name in ["hidden", "echo"] {
        let settled = settle(&changed, name).await;
        assert_eq!(refusal(&settled).kind(), RefusalKind::Unavailable, "{name}");
    }
    assert_eq!(
        refusal(&settle(&changed, "nothing").await).kind(),
        RefusalKind::Unknown
    );
    for name in ["hidden", "echo"] {
        assert_eq!(settle(&request, name).await.text(), name);
    }
    let settled = settle(&changed, "alias").await;
    assert_eq!(
        (settled.tool.as_str(), settled.identity.unwrap().to_string()),
        ("alias", "echo".to_owned())
    );
}

#[test]
fn changes_that_cannot_be_made_are_refused() {
    let registry = registry();
    let change = |change: fn(&mut View) -> Result<(), ViewError>| {
        registry
            .snapshot()
            .with_view(change)
            .map(|_| ())
            .unwrap_err()
    };
    assert_eq!(
        change(|view| view.withdraw("x")),
        ViewError::Unknown("x".to_owned())
    );
    assert_eq!(
        change(|view| view.rename("x", "y")),
        ViewError::Unknown("x".to_owned())
    );
    assert_eq!(
        change(|view| view.redescribe("x", "y")),
        ViewError::Unknown("x".to_owned())
    );
    assert_eq!(
        change(|view| view.rename("echo", "hidden")),
        ViewError::Taken("hidden".to_owned())
    );
    assert_eq!(
        change(|view| view.redescribe("echo", " \n")),
        ViewError::Description("echo".to_owned())
    );
    assert_eq!(
        change(|view| view.rename("echo", "execute")),
        ViewError::Reserved("execute".to_owned())
    );
    for name in ["", "a.b", "1a", &"x".repeat(65)] {
        let error = registry
            .snapshot()
            .with_view(|view| view.rename("echo", name))
            .unwrap_err();
        assert_eq!(error, ViewError::Name(name.to_owned()));
    }
}

#[tokio::test]
async fn hooks_on_requests_run_in_order_for_the_caller_who_asks() {
    struct Hook(&'static str, Log);
    impl RequestHook for Hook {
        fn request(&self, view: &mut View, facts: &Facts) {
            let agent = facts
                .agent_id()
                .map_or("nobody", |id| id.as_str())
                .to_owned();
            self.1.write(format!(
                "{} sees {} for {agent}",
                self.0,
                view.entries().len()
            ));
            let _ = view.withdraw(self.0);
        }
    }
    let log = Log::default();
    let registry = open()
        .on_request(Hook("hidden", log.clone()))
        .on_request(Hook("echo", log.clone()))
        .build();
    let tools = [("hidden", fixed("hidden")), ("echo", fixed("echo"))];
    let _tools = registry.register(tools).unwrap();
    assert_eq!(
        registry
            .request(&Facts::new().agent("build"))
            .entries()
            .len(),
        0
    );
    assert_eq!(
        log.lines(),
        ["hidden sees 2 for build", "echo sees 1 for build"]
    );
    assert_eq!(registry.snapshot().entries().len(), 2);
}

#[tokio::test]
async fn a_hook_on_requests_that_panics_leaves_nothing_to_call() {
    struct Breaks;
    impl RequestHook for Breaks {
        fn request(&self, view: &mut View, _: &Facts) {
            let _ = view.withdraw("hidden");
            panic!("before it withdrew the rest");
        }
    }
    let log = Log::default();
    struct Behind(Log);
    impl RequestHook for Behind {
        fn request(&self, _: &mut View, _: &Facts) {
            self.0.write("reached");
        }
    }
    let registry = open()
        .on_request(Breaks)
        .on_request(Behind(log.clone()))
        .build();
    let tools = [("hidden", fixed("hidden")), ("echo", fixed("echo"))];
    let _tools = registry.register(tools).unwrap();
    let request = registry.request(&Facts::new());
    assert_eq!((request.entries().len(), log.lines().len()), (0, 0));
    let settled = request.settle(Call::new("echo", "{}"), &Facts::new()).await;
    assert_eq!(
        refusal(&settled).kind(),
        tool_core::RefusalKind::Unavailable
    );
}

#[tokio::test]
async fn what_a_request_hook_renamed_is_found_by_a_before_hook_and_the_after_hook_sees_what_ran() {
    use tool_core::{Arguments, Incoming};
    struct Edit;
    impl RequestHook for Edit {
        fn request(&self, view: &mut View, _: &Facts) {
            view.withdraw("hidden").unwrap();
            view.rename("echo", "alias").unwrap();
        }
    }
    let log = Log::default();
    let (before, after) = (log.clone(), log.clone());
    let registry = open()
        .on_request(Edit)
        .before(crate::ports::Before(
            move |incoming: &mut Incoming, _: &Facts| {
                before.write(format!("before {}", incoming.name));
                if incoming.name == "typo" {
                    incoming.name = "alias".to_owned();
                    incoming.arguments = Arguments::from(serde_json::json!({"text": "corrected"}));
                }
                Ok(())
            },
        ))
        .after(crate::ports::After(
            move |settled: &mut Settlement, _: &Facts| {
                after.write(format!("after {}", settled.tool));
                Ok(())
            },
        ))
        .build();
    let captured = registry
        .register([
            ("hidden", tool_core::Tool::from(crate::tools::echo())),
            ("echo", crate::tools::echo().into()),
        ])
        .unwrap();
    let request = registry.request(&Facts::new());
    // Replaced since, and gone: the request calls what it captured.
    captured.close();
    let settled = settle(&request, "typo").await;
    assert_eq!(
        (settled.text(), settled.tool.as_str()),
        ("corrected".to_owned(), "alias")
    );
    assert_eq!(log.lines(), ["before typo", "after alias"]);
    for name in ["hidden", "echo"] {
        let settled = settle(&request, name).await;
        assert_eq!(refusal(&settled).kind(), RefusalKind::Unavailable);
    }
    let settled = settle(&request, "missing").await;
    assert_eq!(refusal(&settled).kind(), RefusalKind::Unknown);
    assert_eq!(
        log.lines()[2..],
        ["before hidden", "before echo", "before missing"]
    );
}

#[tokio::test]
async fn names_that_other_languages_give_to_everything_are_unknown_like_any_other() {
    let registry = registry();
    for name in ["toString", "__proto__", "constructor", "hasOwnProperty", ""] {
        let settled = settle(&registry.snapshot(), name).await;
        assert_eq!(refusal(&settled).kind(), RefusalKind::Unknown, "{name}");
    }
    let settled = settle(&registry.snapshot(), "ecco").await;
    assert!(
        settled.text().contains("did you mean echo?"),
        "{}",
        settled.text()
    );
}
