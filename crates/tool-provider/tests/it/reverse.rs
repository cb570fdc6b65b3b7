//! What a projection takes, the original takes too, unless the report says what was given up.

use serde_json::{Value, json};
use tool_core::Definition;
use tool_provider::{Effect, Loss, Profile, Projection};

use crate::samples::Sampler;
use crate::superset::{as_json_schema, projections, short, tools};
use crate::tools::{corpus, in_halves};

/// Instances that are tried of each schema.
const TRIES: u64 = 30;

fn validator(schema: &Value) -> Option<jsonschema::Validator> {
    // A format is an annotation, in every dialect alike.
    let options = jsonschema::options().should_validate_formats(false);
    options.build(schema).ok()
}

/// Whether a part of the report is about a keyword: it names it, something in it, or what it is in.
fn is_about(loss: &Loss, keyword: &str) -> bool {
    let within = |inner: &str, outer: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut named = loss.path.clone();
    if !loss.keyword.is_empty() {
        named = format!("{named}/{}", loss.keyword);
    }
    // What several parts demand is one schema, which the report speaks of.
    let (named, keyword) = (merged(&named), merged(keyword));
    within(&keyword, &named) || within(&named, &keyword)
}

/// A place without the `allOf` on its way.
fn merged(place: &str) -> String {
    let place = place.strip_suffix("/allOf").unwrap_or(place);
    let mut parts = place.split("/allOf/");
    let mut merged = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        merged.push_str(part.find('/').map_or("", |at| &part[at..]));
    }
    merged
}

/// The places that what stands at a pointer refers to, by way of others too.
fn referred(original: &Value, at: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut pending = vec![at.to_owned()];
    while let Some(at) = pending.pop() {
        let text = original.pointer(&at).map(Value::to_string);
        for part in text.unwrap_or_default().split("\"$ref\":\"#").skip(1) {
            let target = part.split('"').next().unwrap_or_default().to_owned();
            if !found.contains(&target) {
                pending.push(target.clone());
                found.push(target);
            }
        }
    }
    found
}

/// Where an error was come upon: the keyword itself, and each reference on the way to it.
fn places(original: &Value, evaluated: &str) -> Vec<String> {
    let mut places = Vec::new();
    let mut above = String::new();
    // What is written out stands where the reference did.
    let mut holder = None;
    let mut legs = evaluated.split("/$ref").peekable();
    while let Some(leg) = legs.next() {
        places.extend(holder.map(|holder| format!("{holder}{leg}")));
        above.push_str(leg);
        if legs.peek().is_none() {
            // A combinator refuses where something in it does.
            places.extend(referred(original, &above));
            places.push(above);
            break;
        }
        places.push(format!("{above}/$ref"));
        holder = Some(above.clone());
        let target = original.pointer(&above).and_then(|it| it["$ref"].as_str());
        let Some(target) = target.and_then(|it| it.strip_prefix('#')) else {
            break;
        };
        target.clone_into(&mut above);
    }
    places
}

/// Holds instances of the projections against the original; how many the projections took.
fn check(tool: &Definition, wrong: &mut Vec<String>) -> usize {
    let Some(judge) = validator(tool.input.as_value()) else {
        return 0;
    };
    let sent = projections(tool);
    sent.iter()
        .map(|(profile, sent)| check_one(*profile, tool, &judge, sent, wrong))
        .sum()
}

fn check_one(
    profile: Profile,
    tool: &Definition,
    judge: &jsonschema::Validator,
    sent: &Projection,
    wrong: &mut Vec<String>,
) -> usize {
    let original = tool.input.as_value();
    let mut schema = sent.schema().clone();
    if profile == Profile::Gemini {
        schema = as_json_schema(&schema);
    }
    let projected = validator(&schema).expect("a schema");
    let given_up: Vec<&Loss> = sent
        .losses()
        .iter()
        .filter(|loss| loss.effect == Effect::GivenUp)
        .collect();
    let mut held = 0;
    for seed in 0..TRIES {
        let mut sampler = Sampler::new(if seed % 3 == 0 { original } else { &schema }, seed + 1);
        let mut sample = sampler.sample();
        if seed % 3 == 0 {
            sample = sent.inverse().present(sample);
        }
        // Every other one is bent a little, for constraints that only a value beside them shows.
        for _ in 0..seed % 4 {
            sampler.bend(&mut sample);
        }
        if !projected.is_valid(&sample) {
            continue;
        }
        held += 1;
        let restored = sent.inverse().restore(sample.clone());
        let unexplained = judge.iter_errors(&restored).find(|error| {
            let places = places(original, error.evaluation_path().as_str());
            !given_up
                .iter()
                .any(|loss| places.iter().any(|place| is_about(loss, place)))
        });
        if let Some(error) = unexplained {
            wrong.push(format!(
                "{profile} {}: {} at {} refuses {restored}, from {sample}, of {}",
                sent.name(),
                error.evaluation_path(),
                error.instance_path(),
                short(original),
            ));
            break;
        }
    }
    held
}

#[track_caller]
pub(crate) fn holds(tools: &[Definition]) {
    let [(mut held, mut wrong), others] = in_halves(tools, |half| {
        let mut wrong = Vec::new();
        let held: usize = half.iter().map(|tool| check(tool, &mut wrong)).sum();
        (held, wrong)
    });
    held += others.0;
    wrong.extend(others.1);
    println!("{held} instances held, {} did not", wrong.len());
    assert!(held > tools.len(), "samples fit their schemas");
    assert!(
        wrong.is_empty(),
        "{} of {held}:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}

#[test]
fn what_a_projection_takes_the_original_takes_or_the_report_says_why_not() {
    holds(&tools());
}

#[test]
fn what_projections_of_the_corpus_take_the_originals_take_or_the_report_says_why_not() {
    let Some(tools) =
        corpus("what_projections_of_the_corpus_take_the_originals_take_or_the_report_says_why_not")
    else {
        return;
    };
    let every = if std::env::var_os("TOOL_CORPUS_WHOLE").is_some() {
        1
    } else {
        3
    };
    let some: Vec<Definition> = tools.iter().step_by(every).cloned().collect();
    holds(&some);
}

#[test]
fn a_constraint_that_no_report_names_is_noticed() {
    let loss = |path: &str, keyword: &str| {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "number", "exclusiveMinimum": 0},
        }});
        let tool = crate::tools::tool("noticed", schema);
        let sent = Profile::Gemini.project(&tool).expect("it is sent");
        let mut loss = sent.losses()[0].clone();
        loss.path = path.to_owned();
        loss.keyword = keyword.to_owned();
        loss
    };
    let at = "/properties/a/exclusiveMinimum";
    assert!(is_about(&loss("/properties/a", "exclusiveMinimum"), at));
    assert!(is_about(&loss("", "properties"), at));
    assert!(!is_about(&loss("/properties/a", "minimum"), at));
    assert!(!is_about(&loss("/properties/ab", "exclusiveMinimum"), at));
}
