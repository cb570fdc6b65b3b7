//! Nothing that was supplied is printed: not to the model in an issue, and not to a log.

use serde_json::json;
use tool_core::{
    Artifact, ArtifactError, ArtifactKind, Call, Context, Credential, CredentialError,
    CredentialNeed, Decision, Facts, Incoming, NobodyToAsk, Outcome, Permission, PolicyError,
    Refusal, Request, Settlement, Tool,
};
use tool_registry::{Registry, RegistryBuilder};

use crate::ports::{Before, Count, Keyring, Rules, Shelf, open};
use crate::recorder::Recorder;
use crate::tools::{mirror, refusal};

const CANARY: &str = "canary-4711";

/// Everything that can be printed of a settlement, causes included.
fn printed(settled: &Settlement) -> String {
    let mut text = format!("{settled:?} {} ", settled.text());
    match &settled.outcome {
        Outcome::Refused(refusal) => {
            text.push_str(&format!("{refusal} {} {refusal:?}", refusal.operator()));
        }
        Outcome::Defect(defect) => text.push_str(&format!("{defect} {defect:?}")),
        _ => {}
    }
    text
}

#[tokio::test]
async fn no_issue_and_no_event_holds_a_value_that_was_supplied() {
    let schema = json!({
        "type": "object",
        "properties": {
            "s": {"type": "string", "maxLength": 3, "pattern": "^x"},
            "n": {"type": "integer", "minimum": 5, "multipleOf": 2},
            "e": {"enum": ["red"]},
            "c": {"const": 1},
            "l": {"type": "array", "items": {"type": "integer"}, "uniqueItems": true,
                "contains": {"const": 7}},
            "o": {"type": "object", "properties": {"x": {"type": "integer"}},
                "additionalProperties": false, "propertyNames": {"maxLength": 1}},
            "a": {"anyOf": [{"type": "integer"}, {"type": "object", "required": ["k"]}]},
            "u": {"oneOf": [{"type": "string"}, {"minLength": 1}]},
            "z": {"not": {"type": "string"}},
            "f": false
        },
        "dependentRequired": {"s": ["other"]},
        "minProperties": 1
    });
    let arguments = [
        json!({"s": CANARY}),
        json!({"s": [CANARY]}),
        json!({"n": 4711_0815}),
        json!({"n": CANARY}),
        json!({"e": CANARY}),
        json!({"c": CANARY}),
        json!({"l": [CANARY, CANARY]}),
        json!({"o": {"x": CANARY}}),
        json!({"a": CANARY}),
        json!({"a": {"v": CANARY}}),
        json!({"u": CANARY}),
        json!({"z": CANARY}),
        json!({"f": CANARY}),
    ]
    .map(|value| value.to_string());
    let broken = [
        format!(r#"{{"s":"{CANARY}"#),
        format!(r#"{{"s":"{CANARY}",}}"#),
        CANARY.to_owned(),
        format!(r#"["{CANARY}"]"#),
        format!(r#"{{"s":"{CANARY}","s":"{CANARY}"}}"#),
        format!(r#"{{"s":"{CANARY}\ud800"}}"#),
    ];
    for arguments in arguments.into_iter().chain(broken) {
        let recorder = Recorder::default();
        let registry = open().events(recorder.sink()).build();
        let tool = mirror(schema.clone(), &Count::default());
        let _tool = registry.register([("tool", tool)]).unwrap();
        let call = Call::new("tool", arguments.clone());
        let settled = registry.snapshot().settle(call, &Facts::new()).await;
        assert!(
            matches!(refusal(&settled), Refusal::InvalidArguments(_)),
            "{arguments}"
        );
        let text = printed(&settled);
        assert!(!text.contains("4711"), "{arguments}: {text}");
        for told in recorder.told() {
            assert!(!told.printed.contains("4711"), "{}", told.printed);
        }
    }
}

#[tokio::test]
async fn no_event_prints_the_arguments_or_the_result_of_a_call_that_completes() {
    let recorder = Recorder::default();
    let registry = open().events(recorder.sink()).build();
    let tool = mirror(json!({"type": "object"}), &Count::default());
    let _tool = registry.register([("tool", tool)]).unwrap();
    let call = Call::new("tool", json!({"s": CANARY}));
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    assert!(settled.text().contains(CANARY));
    assert!(recorder.told().len() > 10);
    for told in recorder.told() {
        assert!(!told.printed.contains(CANARY), "{}", told.printed);
    }
}

#[tokio::test]
async fn no_event_prints_what_a_handler_reports_or_fails_with() {
    let recorder = Recorder::default();
    let registry = open().events(recorder.sink()).build();
    let failing = crate::tools::run(|cx: Context| async move {
        cx.progress(CANARY);
        Err(tool_core::ToolFailure::new(CANARY).into())
    });
    let _tool = registry.register([("tool", failing)]).unwrap();
    let settled = crate::tools::call(&registry, "tool").await;
    assert_eq!(settled.text(), CANARY);
    for told in recorder.told() {
        assert!(!told.printed.contains(CANARY), "{}", told.printed);
    }
}

#[test]
fn what_is_on_its_way_prints_the_size_of_its_arguments_only() {
    let registry = Registry::default();
    for arguments in [
        tool_core::Arguments::Text(CANARY.to_owned()),
        tool_core::Arguments::from(json!({"s": CANARY})),
    ] {
        let call = Call::new("tool", arguments.clone());
        let incoming = Incoming::new(None, "tool", arguments);
        let settling = registry.snapshot().settle(call.clone(), &Facts::new());
        assert!(!format!("{call:?} {incoming:?} {settling:?}").contains(CANARY));
    }
}

/// Settles a call of a tool that needs a port which fails, and returns the two texts.
async fn failing(builder: RegistryBuilder, tool: Tool) -> (String, String) {
    let recorder = Recorder::default();
    let registry = builder.events(recorder.sink()).build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    let call = Call::new("tool", json!({"ref": "a1"}));
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    (settled.text(), refusal(&settled).operator())
}

#[tokio::test]
async fn what_breaks_inside_a_port_is_for_the_operator_and_not_for_the_model() {
    const DETAIL: &str = "connection to 10.0.0.7 refused";
    let wanting = || {
        let schema = json!({"type": "object", "properties": {"ref": {"type": "string"}}});
        mirror(schema, &Count::default()).wants("ref", ArtifactKind::new("report").unwrap())
    };
    let needing =
        || mirror(json!({"type": "object"}), &Count::default()).needs(CredentialNeed::new("mail"));
    let denying = Rules(|_: &Request<'_>| Err(PolicyError::new(DETAIL)));
    for (builder, tool) in [
        (
            open().permission(Permission::new(denying, NobodyToAsk)),
            needing(),
        ),
        (
            open().artifacts(Shelf(|_: &str| Err(ArtifactError::new(DETAIL)))),
            wanting(),
        ),
        (
            open().credentials(Keyring(|_: &CredentialNeed| {
                Err(CredentialError::new(DETAIL))
            })),
            needing(),
        ),
        (
            open().before(Before(|_: &mut Incoming, _: &Facts| {
                Err(tool_core::HookError::broken(DETAIL))
            })),
            needing(),
        ),
    ] {
        let (model, operator) = failing(builder, tool).await;
        assert!(!model.contains("10.0.0.7") && !model.is_empty(), "{model}");
        assert!(operator.contains(DETAIL), "{operator}");
    }
}

#[tokio::test]
async fn a_secret_reaches_the_handler_and_nothing_that_is_printed() {
    let recorder = Recorder::default();
    let registry = open()
        .credentials(Keyring(|_: &CredentialNeed| Ok(Credential::new(CANARY))))
        .events(recorder.sink())
        .build();
    let tool = crate::tools::run(|cx: Context| async move {
        let secret = cx.credential().map(Credential::expose);
        assert_eq!(secret, Some(CANARY));
        Ok(json!(format!("{cx:?} {:?}", cx.credential())))
    })
    .needs(CredentialNeed::new("mail"));
    let _tool = registry.register([("tool", tool)]).unwrap();
    let settled = crate::tools::call(&registry, "tool").await;
    assert!(!settled.is_error());
    assert!(!printed(&settled).contains(CANARY), "{}", printed(&settled));
    assert!(
        recorder
            .told()
            .iter()
            .all(|told| !told.printed.contains(CANARY))
    );
}

#[tokio::test]
async fn an_artifact_is_given_to_the_handler_and_its_reference_stays_what_was_spoken() {
    let asked = std::sync::Arc::new(std::sync::Mutex::new(None));
    let seen = asked.clone();
    let policy = Rules(move |request: &Request<'_>| {
        *seen.lock().unwrap() = request.arguments().cloned();
        crate::ports::rule(Decision::Allow)
    });
    let registry = Registry::builder()
        .permission(Permission::new(policy, NobodyToAsk))
        .artifacts(Shelf(|reference: &str| {
            let kind = ArtifactKind::new("report").unwrap();
            Ok((reference == "a1").then(|| Artifact::new(kind, json!({"rows": [1, 2]}))))
        }))
        .build();
    let kind = || ArtifactKind::new("report").unwrap();
    let tool = Tool::dynamic(
        "Takes a report",
        json!({"type": "object", "properties": {"ref": {"type": "string"}}}),
        move |input: serde_json::Value, cx: Context| async move {
            let wanted = cx.wanted("ref").cloned();
            Ok(json!({"got": input["ref"], "kind": wanted.map(|kind| kind.to_string())}))
        },
    )
    .wants("ref", kind())
    .model(|spoken, _| [tool_core::Content::text(spoken["ref"].to_string())]);
    let _tool = registry.register([("tool", tool)]).unwrap();
    let settle = |reference: &str| {
        let call = Call::new("tool", json!({"ref": reference}));
        let snapshot = registry.snapshot();
        async move { snapshot.settle(call, &Facts::new()).await }
    };
    let settled = settle("a1").await;
    assert_eq!(
        settled.output(),
        Some(&json!({"got": {"rows": [1, 2]}, "kind": "report"}))
    );
    assert_eq!(settled.text(), r#""a1""#);
    assert_eq!(asked.lock().unwrap().take(), Some(json!({"ref": "a1"})));

    let settled = settle("missing").await;
    assert_eq!(
        settled.text(),
        "ref names nothing that is there; it must be report"
    );
}
