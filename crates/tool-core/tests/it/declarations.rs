//! What a tool declares; what cannot be honoured is refused by name.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::{
    Annotations, ArtifactKind, Bound, Bounding, Capability, Concurrency, Context, CredentialMode,
    CredentialNeed, Definition, Identity, ProblemKind, Source, Tool, ToolName, WireName,
};

fn dynamic(schema: Value) -> Tool {
    Tool::dynamic(
        "Does it",
        schema,
        |input: Value, _| async move { Ok(input) },
    )
}

fn plain() -> Tool {
    dynamic(json!({"type": "object", "properties": {
        "ref": {"type": "string"},
        "maybe": {"type": ["string", "null"]},
        "count": {"type": "integer"},
        "counts": {"type": ["integer", "null"]},
        "any": {}
    }}))
}

/// The one problem of a tool, which must be one of its declarations.
#[track_caller]
fn problem(tool: &Tool) -> String {
    let problems = tool.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].kind(), ProblemKind::Declaration);
    problems[0].to_string()
}

fn report() -> ArtifactKind {
    ArtifactKind::new("report").unwrap()
}

#[test]
fn what_wants_names_must_be_offered_by_the_schema_as_text() {
    assert!(plain().wants("ref", report()).problems().is_empty());
    assert!(plain().wants("maybe", report()).problems().is_empty());
    assert!(plain().wants("any", report()).problems().is_empty());
    assert_eq!(
        problem(&plain().wants("missing", report())),
        "wants \"missing\" as report, which the input schema does not offer"
    );
    for argument in ["count", "counts"] {
        assert_eq!(
            problem(&plain().wants(argument, report())),
            format!("wants \"{argument}\" as report, but its schema takes no string")
        );
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is read")]
struct Optional {
    #[serde(rename = "ref")]
    reference: Option<String>,
}

#[test]
fn an_optional_text_of_a_type_can_be_wanted() {
    let tool = Tool::new("Takes a report", |_: Optional, _: Context| async { Ok(1) });
    let tool = Tool::from(tool.wants("ref", report()));
    assert_eq!(tool.problems(), []);
}

#[test]
fn a_kind_is_not_blank() {
    assert_eq!(ArtifactKind::new(" \t"), None);
    assert_eq!(ArtifactKind::new("r/1 ").unwrap().to_string(), "r/1 ");
}

#[test]
fn declarations_that_mean_nothing_say_how_to_say_nothing() {
    assert!(problem(&plain().timeout(Duration::ZERO)).contains("leave it out"));
    assert!(problem(&plain().narrow_by(["from"])).contains("without a ceiling"));
    let refusing = plain().bounding(Bounding::Refuse(Bound::DEFAULT));
    assert_eq!(refusing.narrow_by(["from"]).problems(), []);
    let ceiling = plain().ceiling(NonZeroUsize::MIN);
    assert!(problem(&ceiling.narrow_by(["from", " "])).contains("blank name"));
    let keyed = plain().concurrency(Concurrency::ByKey("row".to_owned()));
    assert!(problem(&keyed).contains("begin it with \"/\""));
    for pointer in ["", "/row"] {
        let keyed = plain().concurrency(Concurrency::ByKey(pointer.to_owned()));
        assert_eq!(keyed.problems(), []);
    }
}

#[test]
fn a_tool_without_a_description_is_no_tool() {
    for blank in ["", " \n"] {
        let tool = Tool::dynamic(
            blank,
            json!({"type": "object"}),
            |input: Value, _| async move { Ok(input) },
        );
        assert_eq!(tool.problems()[0].kind(), ProblemKind::Description);
    }
}

fn advertised(tool: &Tool) -> String {
    let identity = Identity::new(&Source::Host, ToolName::new("tool").unwrap());
    let definition = Definition::new(
        WireName::of(&identity),
        tool.description(),
        tool.input().clone(),
        tool.advertised_output().cloned(),
        tool.declarations().annotations.clone(),
    );
    serde_json::to_string(&definition).unwrap()
}

#[test]
fn what_only_the_runtime_reads_changes_no_byte_of_what_is_advertised() {
    let declared = plain()
        .wants("ref", report())
        .needs(
            CredentialNeed::new("mail")
                .scopes(["send"])
                .mode(CredentialMode::User),
        )
        .ceiling(NonZeroUsize::MIN)
        .narrow_by(["count"])
        .concurrency(Concurrency::Exclusive)
        .timeout(Duration::from_secs(1))
        .capabilities([Capability::UserData])
        .asserts_permission();
    assert_eq!(declared.problems(), []);
    assert_eq!(advertised(&declared), advertised(&plain()));
}

#[test]
fn capabilities_tell_nothing_said_from_nothing_touched() {
    assert_eq!(plain().declarations().capabilities, None);
    assert_eq!(
        plain().capabilities([]).declarations().capabilities,
        Some(vec![])
    );
}

#[test]
fn changing_a_clone_changes_nothing_else() {
    let tool = plain();
    let changed = tool
        .clone()
        .read_only()
        .title("Other")
        .output_schema(json!({"type": "string"}))
        .timeout(Duration::from_secs(1));
    assert_eq!(advertised(&tool), advertised(&plain()));
    assert!(tool.declarations().timeout.is_none());
    assert_eq!(tool.output(), None);
    assert!(changed.declarations().annotations.read_only);
}

#[test]
fn hints_default_to_the_worst() {
    let hints = Annotations::default();
    assert!(!hints.read_only && hints.destructive && !hints.idempotent && hints.open_world);
    assert_eq!((hints.title, hints.strict), (None, None));
    let read_only = plain().read_only();
    let hints = &read_only.declarations().annotations;
    assert!(hints.read_only && !hints.destructive && hints.open_world);
}

#[test]
fn a_typed_tool_can_be_cloned_and_printed_whatever_its_types_are() {
    let typed = Tool::new("Takes a report", |_: Optional, _: Context| async { Ok(1) });
    let clone = typed.clone().read_only();
    assert!(format!("{typed:?}").contains("Takes a report"));
    assert!(!Tool::from(typed).declarations().annotations.read_only);
    assert!(Tool::from(clone).declarations().annotations.read_only);
}

#[test]
fn a_key_is_read_from_the_arguments_by_its_pointer() {
    let arguments = json!({"row": {"id": 7}});
    let key = |pointer: &str| Concurrency::ByKey(pointer.to_owned());
    assert_eq!(key("/row/id").key(&arguments), Some(&json!(7)));
    assert_eq!(key("").key(&arguments), Some(&arguments));
    assert_eq!(key("/other").key(&arguments), None);
    assert_eq!(Concurrency::Exclusive.key(&arguments), None);
    assert_eq!(Concurrency::Parallel.key(&arguments), None);
}

#[test]
fn what_a_tool_that_runs_nothing_here_cannot_honour_is_refused() {
    let elsewhere = || {
        [
            (Tool::external("Asks", json!({"type": "object"})), "outside"),
            (
                Tool::provider_defined("acme.search", "search", serde_json::Map::new()),
                "at its provider",
            ),
        ]
    };
    type Declare = fn(Tool) -> Tool;
    let cases: [(&str, Declare); 5] = [
        ("asserts_permission", Tool::asserts_permission),
        ("needs", |tool| tool.needs(CredentialNeed::new("mail"))),
        ("timeout", |tool| tool.timeout(Duration::from_secs(1))),
        ("concurrency", |tool| {
            tool.concurrency(Concurrency::Exclusive)
        }),
        ("composed_of", |tool| tool.composed_of(["other"])),
    ];
    for (field, declare) in cases {
        for (tool, place) in elsewhere() {
            assert!(tool.problems().is_empty());
            let expected =
                format!("{field} cannot be honoured by a tool that runs {place}; leave it out");
            assert_eq!(problem(&declare(tool)), expected);
        }
        let handled = plain().handles_provider_tool("acme.shell", "shell", serde_json::Map::new());
        assert!(declare(handled).problems().is_empty(), "{field}");
    }
}

#[test]
fn a_clone_is_the_same_tool_until_something_of_it_is_replaced() {
    let tool = plain();
    assert!(tool.is_same(&tool.clone()));
    assert!(!tool.is_same(&plain()));
    assert!(!tool.is_same(&tool.clone().title("Other")));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Typed {
    #[serde(rename = "n")]
    _n: u8,
}

#[test]
fn both_sorts_of_dynamic_tools_are_dynamic_and_nothing_else_is() {
    let typed = || Tool::new("Does it", |_: Typed, _: Context| async { Ok(()) });
    let dynamic = typed().into_dynamic();
    assert!(dynamic.kind().is_dynamic() && plain().kind().is_dynamic());
    assert!(!Tool::from(typed()).kind().is_dynamic());
    let provided = Tool::provider_defined("acme.x", "x", serde_json::Map::new());
    assert!(!provided.kind().is_dynamic());
    // What it reads is still decoded into its type.
    let replaced = dynamic.input_schema(json!({"type": "object", "title": "Anew"}));
    assert!(replaced.problems().is_empty());
    assert_eq!(replaced.input().as_value()["title"], "Anew");
    assert!(replaced.executor().prepare(&json!({"n": 5})).is_ok());
    assert!(replaced.executor().prepare(&json!({"n": 500})).is_err());
}

#[test]
fn words_of_closed_sets_are_read_and_others_refused_with_the_set() {
    use tool_core::{ColumnType, ResultClass};
    assert_eq!(
        serde_json::from_value::<ResultClass>(json!("triage")).unwrap(),
        ResultClass::Triage
    );
    let error = serde_json::from_value::<ResultClass>(json!("other")).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("triage") && text.contains("inventory"),
        "{text}"
    );
    assert!(serde_json::from_value::<ColumnType>(json!("unknown")).is_err());
    for word in ["", "   ", "\t"] {
        assert_eq!(ArtifactKind::new(word), None);
    }
    assert!(ArtifactKind::new("any/Charset é#1").is_some());
    assert_eq!(NonZeroUsize::new(0), None);
}
