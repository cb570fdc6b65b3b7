//! Arguments with the label of what should become of them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use tool_runtime::core::{Issue, Outcome, Refusal, Settlement};

/// One line of a file of cases.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    /// The input schema of the tool.
    pub(crate) schema: Value,
    /// Text as a model wrote it, or any other value as an API delivered it.
    pub(crate) raw: Value,
    #[serde(default)]
    pub(crate) options: Options,
    expect: Expect,
    /// Whether a repair must be on record; nothing where either is right.
    #[serde(default)]
    pub(crate) repaired: Option<bool>,
    /// What else the author of the case noted.
    #[serde(flatten)]
    _notes: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Options {
    /// Keys that a client adds.
    #[serde(default)]
    pub(crate) strip_keys: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Expect {
    /// Present where the call should run, `null` included.
    #[serde(default, deserialize_with = "some")]
    value: Option<Value>,
    refuse: Option<String>,
    or_refuse: Option<String>,
    /// Other kinds of refusal that are right.
    #[serde(default)]
    also: Vec<String>,
    path: Option<String>,
    hint: Option<String>,
}

fn some<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// What became of a case.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// What is not as the label says, if anything.
    pub(crate) fault: Option<String>,
    pub(crate) repaired: bool,
    document: Value,
}

impl Case {
    /// What is wrong with the case itself, if anything.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let Expect { value, refuse, .. } = &self.expect;
        match (value, refuse) {
            (None, None) => Some("expects neither a value nor a refusal"),
            (Some(_), Some(_)) => Some("expects both a value and a refusal"),
            _ => None,
        }
    }

    /// Holds a settlement of the case against its label.
    pub(crate) fn judge(&self, settlement: &Settlement) -> Verdict {
        let issues = match &settlement.outcome {
            Outcome::Refused(Refusal::InvalidArguments(invalid)) => invalid.issues(),
            _ => &[],
        };
        let ran = matches!(settlement.outcome, Outcome::Completed);
        let repaired = ran && !settlement.repairs.is_empty();
        let fault = if ran {
            self.fault_of_run(settlement, repaired)
        } else {
            self.fault_of_refusal(settlement, issues)
        };
        let issues: Vec<_> = issues.iter().map(issue).collect();
        let repairs: Vec<_> = settlement
            .repairs
            .iter()
            .map(|repair| json!({"path": repair.path, "rule": repair.rule.as_str()}))
            .collect();
        let mut document = json!({"id": self.id, "ok": fault.is_none(), "repairs": repairs});
        if let Value::Object(map) = &mut document {
            match settlement.output().filter(|_| ran) {
                Some(value) => map.insert("value".to_owned(), value.clone()),
                None => map.insert("issues".to_owned(), Value::Array(issues)),
            };
        }
        Verdict {
            fault,
            repaired,
            document,
        }
    }

    /// The verdict on a case whose schema no tool can have.
    pub(crate) fn without_tool(&self, why: &str) -> Verdict {
        Verdict {
            fault: Some(format!("the schema cannot be used: {why}")),
            repaired: false,
            document: json!({"id": self.id, "ok": false, "repairs": [], "issues": []}),
        }
    }

    fn fault_of_run(&self, settlement: &Settlement, repaired: bool) -> Option<String> {
        let Some(wanted) = &self.expect.value else {
            return Some("ran, and should be refused".to_owned());
        };
        if settlement.output() != Some(wanted) {
            return Some("ran with another value".to_owned());
        }
        match self.repaired {
            Some(true) if !repaired => Some("ran without a repair on record".to_owned()),
            Some(false) if repaired => Some("was repaired, and should run as it is".to_owned()),
            _ => None,
        }
    }

    fn fault_of_refusal(&self, settlement: &Settlement, issues: &[Issue]) -> Option<String> {
        let text = settlement.text();
        let expect = &self.expect;
        let Some(kind) = expect.refuse.as_ref().or(expect.or_refuse.as_ref()) else {
            return Some(format!("was refused, and should run: {text}"));
        };
        let is_right = |issue: &Issue| {
            let found = issue.kind().as_str();
            let placed = || {
                expect
                    .path
                    .as_ref()
                    .is_none_or(|path| issue.pointer() == *path)
            };
            (found == kind && placed()) || expect.also.iter().any(|other| other == found)
        };
        if !issues.iter().any(is_right) {
            return Some(format!("was refused otherwise: {text}"));
        }
        let hint = expect.hint.as_ref().filter(|hint| !text.contains(*hint));
        hint.map(|hint| format!("does not offer \"{hint}\": {text}"))
    }
}

impl Verdict {
    /// For programs.
    pub(crate) fn into_document(self) -> Value {
        let mut document = self.document;
        if let (Value::Object(map), Some(fault)) = (&mut document, self.fault) {
            map.insert("fault".to_owned(), Value::from(fault));
        }
        document
    }
}

fn issue(issue: &Issue) -> Value {
    json!({
        "kind": issue.kind().as_str(),
        "path": issue.pointer(),
        "hint": issue.hint(),
        "text": issue.to_string(),
    })
}
