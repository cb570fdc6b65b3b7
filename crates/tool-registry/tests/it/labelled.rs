//! Labelled arguments: what is run, what is refused, and what is on record of it.

use serde_json::Value;
use tool_core::{Arguments, Call, Facts, Issue, Outcome, Refusal, Settlement};

use crate::ports::{Count, open};
use crate::tools::mirror;

/// Cases that stand for their kinds, then further ones of the same kinds.
const FILES: [&str; 2] = [
    include_str!("../args-cases.jsonl"),
    include_str!("../args-cases-further.jsonl"),
];

/// One labelled case.
struct Case {
    id: String,
    schema: Value,
    raw: Value,
    strip: Vec<String>,
    expect: Value,
    repaired: Option<bool>,
}

fn cases() -> Vec<Case> {
    let lines = FILES.iter().flat_map(|file| file.lines());
    lines
        .map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            let strip = case["options"]["strip_keys"].as_array();
            Case {
                id: case["id"].as_str().unwrap().to_owned(),
                schema: case["schema"].clone(),
                raw: case["raw"].clone(),
                strip: strip
                    .into_iter()
                    .flatten()
                    .map(|key| key.as_str().unwrap().to_owned())
                    .collect(),
                expect: case["expect"].clone(),
                repaired: case["repaired"].as_bool(),
            }
        })
        .collect()
}

async fn settle(case: &Case) -> (Settlement, usize) {
    let (registry, runs) = (
        open().injected_keys(case.strip.clone()).build(),
        Count::default(),
    );
    let _tool = registry
        .register([("tool", mirror(case.schema.clone(), &runs))])
        .unwrap();
    let arguments = match &case.raw {
        Value::String(text) => Arguments::Text(text.clone()),
        value => Arguments::from(value.clone()),
    };
    let call = Call::new("tool", arguments);
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    (settled, runs.get())
}

/// What is wrong with how a case was settled, if anything.
fn fault(case: &Case, settled: &Settlement, runs: usize) -> Option<String> {
    let may_refuse = case.expect.get("refuse").or(case.expect.get("or_refuse"));
    match &settled.outcome {
        Outcome::Completed => {
            let Some(value) = case.expect.get("value") else {
                return Some("ran, and should be refused".to_owned());
            };
            let output = settled.output();
            if output != Some(value) {
                return Some("ran with another value".to_owned());
            }
            let recorded = !settled.repairs.is_empty();
            let right = case.repaired.is_none_or(|wanted| wanted == recorded);
            (!right || runs != 1).then(|| format!("ran {runs} times, repaired: {recorded}"))
        }
        Outcome::Refused(Refusal::InvalidArguments(invalid)) => {
            let Some(kind) = may_refuse.and_then(Value::as_str) else {
                return Some(format!("refused: {invalid}"));
            };
            if runs != 0 || !settled.repairs.is_empty() {
                return Some("refused, and yet ran or was repaired".to_owned());
            }
            let also = case.expect["also"].as_array().into_iter().flatten();
            let kinds: Vec<_> = also.filter_map(Value::as_str).chain([kind]).collect();
            let path = case.expect["path"].as_str();
            let right = |issue: &Issue| {
                let found = issue.kind().as_str();
                kinds.contains(&found)
                    && (found != kind || path.is_none_or(|path| issue.pointer() == path))
            };
            let hint = case.expect["hint"].as_str().unwrap_or_default();
            let said = settled.text().contains(hint);
            let found = invalid.issues().iter().any(right);
            (!found || !said).then(|| format!("refused otherwise: {invalid}"))
        }
        other => Some(format!("ended as {}", other.as_str())),
    }
}

#[tokio::test]
async fn labelled_arguments_are_run_or_refused_as_their_labels_say() {
    let cases = cases();
    let (mut faults, mut wanted, mut repaired, mut spared, mut touched) = (vec![], 0, 0, 0, 0);
    for case in &cases {
        let (settled, runs) = settle(case).await;
        let ran_repaired = runs > 0 && !settled.repairs.is_empty();
        match case.repaired {
            Some(true) => {
                wanted += 1;
                repaired += usize::from(ran_repaired);
            }
            Some(false) => {
                spared += 1;
                touched += usize::from(ran_repaired);
            }
            None => {}
        }
        if let Some(fault) = fault(case, &settled, runs) {
            faults.push(format!("{}: {fault}", case.id));
        }
    }
    println!(
        "{repaired} of {wanted} repaired that should be, {touched} of {spared} that should not"
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!((repaired, touched), (wanted, 0));
    assert!(cases.len() >= 300, "{}", cases.len());
}
