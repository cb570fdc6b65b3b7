//! Random registrations and drops, of several sources, against a model that is a plain list.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use tool_core::{Call, Facts, Namespace, Source, Tool};
use tool_registry::{Registration, Registry, Snapshot};

use crate::ports::open;
use crate::prop_schemas::cases;

/// Two of these share a namespace, so that their tools would meet.
fn sources() -> [Source; 4] {
    let namespace = |name| Namespace::new(name).unwrap();
    [
        Source::Host,
        Source::Plugin(namespace("acme")),
        Source::Server(namespace("acme")),
        Source::Server(namespace("other")),
    ]
}

/// Two of these read alike, and one is reserved where there is no namespace.
const NAMES: [&str; 5] = ["echo", "db.query", "db_query", "execute", " "];

fn tool(said: usize) -> Tool {
    let said = said.to_string();
    Tool::dynamic(said.clone(), json!({"type": "object"}), move |_, _| {
        let said = said.clone();
        async move { Ok(json!(said)) }
    })
}

#[derive(Clone, Debug)]
enum Step {
    /// Registers the names, all or none if it says so.
    Register(usize, Vec<usize>, bool),
    Drop(usize),
    Keep(usize),
    Snapshot,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let names = prop::collection::vec(0..NAMES.len(), 1..4);
    let step = prop_oneof![
        6 => (0..sources().len(), names, any::<bool>())
            .prop_map(|(source, names, whole)| Step::Register(source, names, whole)),
        4 => any::<usize>().prop_map(Step::Drop),
        1 => any::<usize>().prop_map(Step::Keep),
        2 => Just(Step::Snapshot),
    ];
    prop::collection::vec(step, 1..32)
}

/// What each tool says, by its namespace and name.
type Said = BTreeMap<(String, String), String>;

/// What lies where: each layer with the number of its registration, the last one on top.
#[derive(Default)]
struct Model(Vec<Layer>);

#[derive(Clone)]
struct Layer {
    number: usize,
    source: usize,
    name: usize,
}

/// A tool is its namespace and its name, whoever provides it.
fn place(source: usize, name: usize) -> (Option<String>, usize) {
    let namespace = sources()[source].namespace().map(ToString::to_string);
    (namespace, name)
}

impl Model {
    fn top(&self, source: usize, name: usize) -> Option<&Layer> {
        let mut layers = self.0.iter().rev();
        layers.find(|layer| place(layer.source, layer.name) == place(source, name))
    }

    /// The places in `names` that are refused: blank, reserved, given twice, or another's.
    fn refused(&self, source: usize, names: &[usize]) -> Vec<usize> {
        let of_another = |name| {
            let top = self.top(source, name);
            top.is_some_and(|top| top.source != source)
        };
        let is_refused = |at: &usize| {
            let name = names[*at];
            let blank_or_reserved = NAMES[name] == " " || NAMES[name] == "execute" && source == 0;
            blank_or_reserved || names[..*at].contains(&name) || of_another(name)
        };
        (0..names.len()).filter(is_refused).collect()
    }

    /// What each place says.
    fn said(&self) -> Said {
        let said = self.0.iter().map(|layer| {
            let (namespace, name) = place(layer.source, layer.name);
            let key = (namespace.unwrap_or_default(), NAMES[name].to_owned());
            (key, layer.number.to_string())
        });
        said.collect()
    }
}

/// What a request advertises.
fn advertised(snapshot: &Snapshot) -> Said {
    let said = snapshot.entries().map(|entry| {
        let namespace = entry.identity().namespace().map(ToString::to_string);
        let key = (
            namespace.unwrap_or_default(),
            entry.identity().name().to_string(),
        );
        (key, entry.definition().description.clone())
    });
    said.collect()
}

/// Calls every tool of a request: each is what was advertised.
async fn each_runs_as_advertised(snapshot: &Snapshot) {
    for entry in snapshot.entries() {
        let call = Call::new(entry.wire_name().as_str(), "{}");
        let settled = snapshot.settle(call, &Facts::new()).await;
        assert_eq!(settled.text(), entry.definition().description);
    }
}

/// Plays the steps; gives back the requests that were made, each with what it advertised.
fn play(registry: &Registry, steps: Vec<Step>) -> Vec<(Snapshot, Said)> {
    let (mut model, mut live, mut requests) = (Model::default(), Vec::new(), Vec::new());
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Register(source, names, whole) => {
                let refused = model.refused(source, &names);
                let registrar = registry.registrar(sources()[source].clone());
                let tools = names.iter().map(|name| (NAMES[*name], tool(number)));
                let registration: Option<Registration> = if whole {
                    registrar.register(tools).ok()
                } else {
                    Some(registrar.register_healthy(tools))
                };
                assert_eq!(registration.is_none(), whole && !refused.is_empty());
                let Some(registration) = registration else {
                    continue;
                };
                let said: Vec<_> = registration
                    .refused()
                    .iter()
                    .map(|one| one.name())
                    .collect();
                let expected: Vec<_> = refused.iter().map(|at| NAMES[names[*at]]).collect();
                assert_eq!(said, expected);
                let healthy = (0..names.len()).filter(|at| !refused.contains(at));
                model.0.extend(healthy.map(|at| Layer {
                    number,
                    source,
                    name: names[at],
                }));
                live.push((number, registration));
            }
            Step::Drop(at) if !live.is_empty() => {
                let (gone, registration) = live.remove(at % live.len());
                drop(registration);
                model.0.retain(|layer| layer.number != gone);
            }
            Step::Keep(at) if !live.is_empty() => {
                let (_, registration) = live.remove(at % live.len());
                registration.keep();
            }
            Step::Snapshot => requests.push((registry.snapshot(), model.said())),
            Step::Drop(_) | Step::Keep(_) => {}
        }
        assert_eq!(advertised(&registry.snapshot()), model.said());
    }
    requests.push((registry.snapshot(), model.said()));
    requests
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn law_04_registrations_of_several_sources_lie_as_a_plain_list_says_and_requests_stay(
        steps in steps()
    ) {
        let registry = open().build();
        let requests = play(&registry, steps);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (request, said) in &requests {
            prop_assert_eq!(&advertised(request), said);
            runtime.block_on(each_runs_as_advertised(request));
        }
    }
}
