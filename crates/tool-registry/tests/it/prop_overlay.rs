//! Random registrations and drops, of several sources, against a model that is a plain list.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use serde_json::json;
use tool_core::{Call, Facts, Identity, Namespace, Source, Tool, ToolName, WireName};
use tool_registry::{Entry, Registration, Registry, Snapshot};

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
    /// Registers the names, each with another to be advertised by where that counts.
    Register(usize, Vec<(usize, usize)>, Way),
    Drop(usize),
    Keep(usize),
    Snapshot,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Whole,
    Healthy,
    Advertised,
}

/// Names to be advertised by; a blank is the one that the identity gives. One is reserved, one may
/// be what a tool of a namespace is called anyway.
const ADVERTISED: [&str; 5] = [" ", "a", "b", "acme__echo", "execute"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let names = prop::collection::vec((0..NAMES.len(), 0..ADVERTISED.len()), 1..4);
    let ways = prop_oneof![Just(Way::Whole), Just(Way::Healthy), Just(Way::Advertised)];
    let step = prop_oneof![
        6 => (0..sources().len(), names, ways)
            .prop_map(|(source, names, way)| Step::Register(source, names, way)),
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
    wire: String,
}

/// What a tool is called by; a blank where its name is.
fn wire(source: usize, name: usize, advertised: &str) -> String {
    let name = ToolName::new(NAMES[name]);
    let own = name.map(|name| WireName::of(&Identity::new(&sources()[source], name)));
    match advertised {
        " " => own.map_or(" ".to_owned(), |own| own.to_string()),
        advertised => advertised.to_owned(),
    }
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
    fn refused(&self, source: usize, names: &[(usize, String)]) -> Vec<usize> {
        let of_another = |name, wire: &String| {
            let elsewhere = |layer: &Layer| place(layer.source, layer.name) != place(source, name);
            let top = self.top(source, name);
            top.is_some_and(|top| top.source != source)
                || self
                    .0
                    .iter()
                    .any(|layer| layer.wire == *wire && elsewhere(layer))
        };
        let is_legal = |(name, wire): &(usize, String)| NAMES[*name] != " " && wire != "execute";
        let (mut earlier, mut wires) = (HashSet::new(), HashSet::new());
        let mut refused = Vec::new();
        for (at, named) in names.iter().enumerate() {
            let legal = is_legal(named);
            let first = legal && earlier.insert(named.0) && wires.insert(&named.1);
            if !first || of_another(named.0, &named.1) {
                refused.push(at);
            }
        }
        refused
    }

    /// What each place is called by, uppermost.
    fn called(&self) -> BTreeMap<(String, String), String> {
        let called = self.0.iter().map(|layer| {
            let (namespace, name) = place(layer.source, layer.name);
            let key = (namespace.unwrap_or_default(), NAMES[name].to_owned());
            (key, layer.wire.clone())
        });
        called.collect()
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

fn key(entry: &Entry) -> (String, String) {
    let namespace = entry.identity().namespace().map(ToString::to_string);
    let name = entry.identity().name().to_string();
    (namespace.unwrap_or_default(), name)
}

/// What a request advertises.
fn advertised(snapshot: &Snapshot) -> Said {
    let said = snapshot.entries();
    said.map(|entry| (key(entry), entry.definition().description.clone()))
        .collect()
}

/// What the tools of a request are called by.
fn called(snapshot: &Snapshot) -> Said {
    let called = snapshot.entries();
    called
        .map(|entry| (key(entry), entry.wire_name().to_string()))
        .collect()
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
            Step::Register(source, names, way) => {
                let advertised = |(name, advertised): &(usize, usize)| match way {
                    Way::Advertised => (*name, ADVERTISED[*advertised]),
                    Way::Whole | Way::Healthy => (*name, " "),
                };
                let named: Vec<_> = names.iter().map(advertised).collect();
                let names: Vec<_> = named
                    .iter()
                    .map(|(name, advertised)| (*name, wire(source, *name, advertised)))
                    .collect();
                let refused = model.refused(source, &names);
                let registrar = registry.registrar(sources()[source].clone());
                let tools = || named.iter().map(|(name, _)| (NAMES[*name], tool(number)));
                let registration: Option<Registration> = match way {
                    Way::Whole => registrar.register(tools()).ok(),
                    Way::Healthy => Some(registrar.register_healthy(tools())),
                    Way::Advertised => {
                        let tools = named.iter().map(|(name, advertised)| {
                            (NAMES[*name], tool(number), WireName::parse(advertised))
                        });
                        Some(registrar.register_healthy_as(tools))
                    }
                };
                let whole = way == Way::Whole;
                assert_eq!(registration.is_none(), whole && !refused.is_empty());
                let Some(registration) = registration else {
                    continue;
                };
                let said: Vec<_> = registration
                    .refused()
                    .iter()
                    .map(|one| one.name())
                    .collect();
                let expected: Vec<_> = refused.iter().map(|at| NAMES[names[*at].0]).collect();
                assert_eq!(said, expected);
                let healthy = (0..names.len()).filter(|at| !refused.contains(at));
                model.0.extend(healthy.map(|at| Layer {
                    number,
                    source,
                    name: names[at].0,
                    wire: names[at].1.clone(),
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
        assert_eq!(called(&registry.snapshot()), model.called());
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
