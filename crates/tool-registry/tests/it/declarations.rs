//! What a tool declares of itself, checked where it is written and honoured where it is called.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_core::{
    Capability, CheckIn, Column, ColumnType, Component, Owner, Produced, Refusal, RefusalKind,
    Source, Tool, ToolFailure,
};
use tool_registry::{ColumnCheck, Registry};

use crate::ports::{Count, open};
use crate::tools::{call, fixed, mirror, refusal, run};

#[track_caller]
fn problems(tool: Tool) -> String {
    let registry = Registry::default();
    let error = registry.register([("tool", tool)]).unwrap_err();
    assert_eq!(error.refused().len(), 1);
    assert_eq!(error.refused()[0].name(), "tool");
    error.to_string()
}

#[test]
fn a_declaration_that_cannot_be_honoured_is_refused_with_the_way_to_say_nothing() {
    let tool = || fixed("x");
    let none: [&str; 0] = [];
    let five = NonZeroUsize::new(5).unwrap();
    let columns: [(&str, Column); 0] = [];
    let check_in = CheckIn::always().component(Component::new(" "));
    for (tool, expected) in [
        (
            tool().ceiling(five).narrow_by(none),
            "narrow_by is empty; leave it out to suggest nothing",
        ),
        (
            tool().ceiling(five).narrow_by(["  "]),
            "narrow_by holds a blank name",
        ),
        (
            tool().narrow_by(["a"]),
            "narrow_by is given without a ceiling",
        ),
        (
            tool().arguments_from(none),
            "arguments_from is empty; leave it out",
        ),
        (
            tool().arguments_from([""]),
            "arguments_from holds a blank name",
        ),
        (
            tool().arguments_from(["tool"]),
            "arguments_from names the tool itself",
        ),
        (
            tool().composed_of(none),
            "composed_of is empty; leave it out",
        ),
        (
            tool().composed_of(["tool"]),
            "composed_of names the tool itself",
        ),
        (
            tool().owner(Owner::new("team", " ")),
            "owner has a blank half; leave it out",
        ),
        (
            tool().owner(Owner::new("", "x")),
            "owner has a blank half; leave it out",
        ),
        (
            tool().result_columns(columns),
            "result_columns is empty; leave it out",
        ),
        (
            tool().capabilities([Capability::Other("call".to_owned())]),
            "capabilities hold \"call\", which stands for the call itself",
        ),
        (
            tool().capabilities([Capability::UserData, Capability::Other(" ".to_owned())]),
            "capabilities hold a blank word; leave it out",
        ),
        (
            tool().check_in(check_in),
            "component with a blank id; leave it out",
        ),
    ] {
        let text = problems(tool);
        assert!(
            text.contains(expected) && text.contains("\"tool\""),
            "{text}"
        );
    }
}

#[test]
fn all_problems_of_a_registration_are_reported_at_once() {
    let tool = fixed("x")
        .described(" ")
        .composed_of(["a", ""])
        .owner(Owner::new("", ""));
    let error = Registry::default()
        .register([("one", tool.clone()), ("fine", fixed("x")), ("", tool)])
        .unwrap_err();
    let counts: Vec<_> = error
        .refused()
        .iter()
        .map(|entry| (entry.name(), entry.problems().len()))
        .collect();
    assert_eq!(counts, [("one", 3), ("", 4)]);
}

#[test]
fn ingredients_are_checked_when_the_catalogue_is_complete() {
    let registry = Registry::default();
    let dish = fixed("x").composed_of(["salt", "acme/pepper"]);
    let _dish = registry.register([("dish", dish)]).unwrap();
    let missing = registry.missing_ingredients();
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].0.to_string(), "dish");
    assert_eq!(missing[0].1, ["salt", "acme/pepper"]);
    let _salt = registry.register([("salt", fixed("x"))]).unwrap();
    let acme = Source::Plugin(tool_core::Namespace::new("acme").unwrap());
    let _pepper = registry
        .registrar(acme)
        .register([("pepper", fixed("x"))])
        .unwrap();
    assert!(registry.missing_ingredients().is_empty());
}

#[test]
fn what_is_not_declared_is_absent_and_changes_no_byte() {
    let declared = fixed("x");
    let declarations = declared.declarations();
    assert!(declarations.ceiling.is_none() && declarations.narrow_by.is_none());
    assert!(declarations.result_kind.is_none() && declarations.result_columns.is_none());
    assert!(declarations.capabilities.is_none() && declarations.gates.is_none());
    assert_eq!(fixed("x").gates(false).declarations().gates, Some(false));
    assert_eq!(
        fixed("x")
            .capabilities([])
            .declarations()
            .capabilities
            .as_ref()
            .map(Vec::len),
        Some(0)
    );
    // Facts for records say nothing to a model.
    let registry = Registry::default();
    let plain = registry.register([("tool", fixed("x"))]).unwrap();
    let bytes = |registry: &Registry| {
        let snapshot = registry.snapshot();
        serde_json::to_string(&snapshot.definitions().collect::<Vec<_>>()).unwrap()
    };
    let before = bytes(&registry);
    plain.close();
    let recorded = fixed("x")
        .owner(Owner::new("team", "a"))
        .gates(true)
        .composed_of(["a"]);
    let _recorded = registry.register([("tool", recorded)]).unwrap();
    assert_eq!(bytes(&registry), before);
}

#[tokio::test]
async fn a_result_over_its_ceiling_reaches_no_channel_and_one_at_it_passes() {
    let text = "é".repeat(10);
    let tool = |max: usize| {
        let text = text.clone();
        run(move |_| {
            let text = text.clone();
            async move { Ok(json!(text)) }
        })
        .ceiling(NonZeroUsize::new(max).unwrap())
        .narrow_by(["since", "limit"])
    };
    let registry = open().build();
    let _tools = registry
        .register([("fits", tool(10)), ("over", tool(9))])
        .unwrap();
    assert_eq!(call(&registry, "fits").await.text(), text);
    let settled = call(&registry, "over").await;
    assert_eq!(
        settled.text(),
        "the result has 10 characters and the most is 9; no data was returned; \
         narrow it by since, limit"
    );
    assert!(settled.output.is_none() && settled.structured().is_none());
    assert_eq!(
        settled.outcome.origin().map(|origin| origin.as_str()),
        Some("result")
    );
    assert!(settled.outcome.is_retryable());
}

/// Calls a tool with one column, with the check turned on or off.
async fn judged(check: ColumnCheck, column: Column, rows: Value) -> tool_core::Settlement {
    let tool = run(move |_| {
        let rows = rows.clone();
        async move { Ok(rows) }
    })
    .result_columns([("price", column)]);
    let registry = open().column_check(check).build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    call(&registry, "tool").await
}

#[tokio::test]
async fn columns_are_judged_where_the_host_turns_it_on() {
    let number = Column::new(ColumnType::Number);
    let wrong = json!([{"price": "canary"}, {"price": 0.0}, {"price": ""}, {"price": 3}]);
    let settled = judged(ColumnCheck::Enforce, number, wrong.clone()).await;
    let Refusal::Columns { mismatches } = refusal(&settled) else {
        panic!("not columns")
    };
    assert_eq!((mismatches[0].wrong, mismatches[0].rows), (2, 4));
    assert!(
        settled
            .text()
            .contains("price: expected number, got string in 2 of 4 rows")
    );
    assert!(!format!("{settled:?}").contains("canary"));
    assert_eq!(refusal(&settled).kind(), RefusalKind::Columns);
    assert!(!judged(ColumnCheck::Off, number, wrong).await.is_error());

    let integer = Column::new(ColumnType::Integer);
    for (column, rows, fits) in [
        (number, json!([]), true),
        (number, json!("prose"), true),
        (number, json!(["a", "b"]), true),
        (number, json!({"rows": [{"price": "x"}]}), true),
        (number, json!([{"price": 1, "unlisted": "x"}]), true),
        (number, json!([{"price": null}]), false),
        (number, json!([{"unlisted": 1}]), false),
        (
            number.nullable(),
            json!([{"price": null}, {"unlisted": 1}]),
            true,
        ),
        // A column that no row has is not excused by that.
        (number.nullable(), json!([{"unlisted": 1}, {}]), false),
        (number.nullable(), json!([{"price": "x"}]), false),
        (number, json!([{"price": true}, {"price": 1}]), false),
        (integer, json!([{"price": 5.0}]), true),
        (integer, json!([{"price": 5.5}]), false),
    ] {
        let settled = judged(ColumnCheck::Enforce, column, rows.clone()).await;
        assert_eq!(!settled.is_error(), fits, "{rows}");
    }
}

#[tokio::test]
async fn advertise_only_lets_the_handler_take_what_comes() {
    let runs = Count::default();
    let schema = json!({"type": "object", "required": ["a"]});
    let tool = mirror(schema.clone(), &runs).validation(tool_core::Validation::Advertise);
    let registry = open().build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    assert_eq!(
        registry
            .snapshot()
            .get("tool")
            .unwrap()
            .definition()
            .input
            .as_value(),
        &schema
    );
    assert!(!call(&registry, "tool").await.is_error());
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn two_bad_columns_are_two_findings_and_a_warning_gives_the_result_out() {
    let number = Column::new(ColumnType::Number);
    let rows = json!([{"a": "1", "b": 2}, {"a": "2"}]);
    for check in [ColumnCheck::Off, ColumnCheck::Warn, ColumnCheck::Enforce] {
        let rows = rows.clone();
        let tool = run(move |_| {
            let rows = rows.clone();
            async move { Ok(rows) }
        })
        .result_columns([("a", number), ("b", number), ("c", number)]);
        let found = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&found);
        let registry = open()
            .column_check(check)
            .events(move |event: &tool_core::Event<'_>| {
                if let tool_core::EventKind::Columns(mismatches) = event.kind {
                    let one = |one: &tool_core::ColumnMismatch| {
                        format!("{} {} {}/{}", one.column, one.got, one.wrong, one.rows)
                    };
                    seen.lock().unwrap().extend(mismatches.iter().map(one));
                }
            })
            .build();
        let _tool = registry.register([("tool", tool)]).unwrap();
        let settled = call(&registry, "tool").await;
        assert_eq!(settled.is_error(), check == ColumnCheck::Enforce);
        let expected = ["a string 2/2", "b null 1/2", "c nothing 2/2"];
        let found = found.lock().unwrap();
        if check == ColumnCheck::Off {
            assert!(found.is_empty());
        } else {
            assert_eq!(*found, expected);
        }
    }
}

/// The ceiling is the author's and comes first; what is over it is neither kept nor shown.
#[tokio::test]
async fn what_is_over_its_ceiling_is_refused_before_it_is_retained() {
    let drawer = crate::ports::Drawer::default();
    let registry = open()
        .outputs(Arc::new(drawer.clone()))
        .bound(tool_core::Bound::new(4, 1).unwrap())
        .build();
    let tool = fixed("canary text").ceiling(NonZeroUsize::new(5).unwrap());
    let unnamed = registry.register([("tool", tool.clone())]).unwrap();
    let settled = call(&registry, "tool").await;
    assert_eq!(refusal(&settled).kind(), RefusalKind::Ceiling);
    assert!(
        settled
            .text()
            .ends_with("no data was returned; ask for less")
    );
    assert!(settled.retained.is_empty() && drawer.kept.lock().unwrap().is_empty());
    assert!(!format!("{settled:?}").contains("canary"));
    unnamed.close();
    // Anything but a text is measured as its compact JSON.
    let listed = |max: usize| {
        run(|_| async { Ok(json!({"a": [1, 2]})) }).ceiling(NonZeroUsize::new(max).unwrap())
    };
    for (max, fits) in [(11, true), (10, false)] {
        let _tool = registry.register([("tool", listed(max))]).unwrap();
        assert_eq!(!call(&registry, "tool").await.is_error(), fits, "{max}");
    }
}

#[tokio::test]
async fn output_of_any_depth_is_a_defect_and_crashes_nothing() {
    fn nested(depth: usize) -> Value {
        let mut value = json!([]);
        for _ in 1..depth {
            value = Value::Array(vec![value]);
        }
        value
    }
    for depth in [128, 129, 200_000] {
        let output = run(move |_| async move { Ok(nested(depth)) });
        let any = json!({"type": "object"});
        let beside = Tool::dynamic("Gives more", any, move |_: Value, _| async move {
            // The map around it is a level of its own.
            let more = [("more".to_owned(), nested(depth - 1))];
            Ok(Produced::value(1).with_meta(more.into_iter().collect()))
        });
        let failure = run(move |_| async move {
            Err(ToolFailure::new("no").structured(nested(depth)).into())
        });
        let told = run(move |_| async move {
            let more = [("more".to_owned(), nested(depth - 1))];
            Err(ToolFailure::new("no")
                .meta(more.into_iter().collect())
                .into())
        });
        for (tool, ends) in [
            (output, "completed"),
            (beside, "completed"),
            (failure, "failed"),
            (told, "failed"),
        ] {
            let registry = open().build();
            let _tool = registry.register([("tool", tool)]).unwrap();
            let settled = call(&registry, "tool").await;
            let expected = if depth == 128 { ends } else { "defect" };
            assert_eq!(settled.outcome.as_str(), expected, "{depth}");
        }
    }
}
