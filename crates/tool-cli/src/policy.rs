//! `tool policy`.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use tool_runtime::RuntimeError;
use tool_runtime::core::{
    Action, Decision, ErrorChain, Facts, Identity, Namespace, Outcome, Output, Request, Resource,
    Source, ToolName,
};
use tool_runtime::permission::{
    CaseVerdict, ExplainedPart, LabelledCase, Layer, Lint, Rule, RulePolicy, lint,
};

use crate::args::Common;
use crate::error::CliError;
use crate::policy_args::{As, Asked, Policy};
use crate::{input, mirror, render, setup};

/// Decides, explains, tests or lints.
pub(crate) async fn run(common: &Common, command: Policy) -> Result<ExitCode, CliError> {
    match command {
        Policy::Check { asked } => check(common, &asked).await,
        Policy::Explain { asked } => explain(common, &asked).await,
        Policy::Test { files } => test(common, &files),
        Policy::Lint { files } => lints(common, &files),
    }
}

async fn check(common: &Common, asked: &Asked) -> Result<ExitCode, CliError> {
    let policy = policy(common).await?;
    let ruling = asking(common, asked, |request| policy.judge(request)).await?;
    let decision = word(ruling.decision);
    if common.json {
        render::json(&json!({
            "decision": decision, "because": ruling.because, "reason": ruling.reason,
        }))?;
    } else {
        print(&format!("{decision}: {}\n", ruling.because))?;
    }
    Ok(status(ruling.decision == Decision::Allow))
}

async fn explain(common: &Common, asked: &Asked) -> Result<ExitCode, CliError> {
    let policy = policy(common).await?;
    let explanation = asking(common, asked, |request| policy.explain(request)).await?;
    if common.json {
        let parts: Vec<Value> = explanation.parts.iter().map(part).collect();
        render::json(&json!({
            "decision": word(explanation.ruling.decision),
            "because": explanation.ruling.because,
            "reason": explanation.ruling.reason,
            "parts": parts,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let ruling = &explanation.ruling;
    let mut text = format!("{}: {}\n", word(ruling.decision), ruling.because);
    if let Some(reason) = &ruling.reason {
        text.push_str(&format!("the model reads: {reason}\n"));
    }
    for part in &explanation.parts {
        let (decision, because) = (word(part.ruling.decision), &part.ruling.because);
        text.push_str(&format!("\n{}\n  {decision}: {because}\n", part.part));
        if let Some(reason) = &part.ruling.reason {
            text.push_str(&format!("  reason: {reason}\n"));
        }
        text.push_str("  what would change it:\n");
        for change in &part.changes {
            text.push_str(&format!("  - {change}\n"));
        }
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn part(part: &ExplainedPart) -> Value {
    let rule = part
        .rule
        .as_ref()
        .map(|rule| json!({"rule": rule.to_string(), "file": rule.place(), "line": rule.line()}));
    json!({
        "part": part.part,
        "decision": word(part.ruling.decision),
        "because": part.ruling.because,
        "reason": part.ruling.reason,
        "rule": rule,
        "changes": part.changes,
    })
}

/// Loads policy files, which tries their examples, and tries labelled cases.
fn test(common: &Common, files: &[PathBuf]) -> Result<ExitCode, CliError> {
    let mut loaded = Vec::new();
    let mut broken = Vec::new();
    let mut verdicts = Vec::new();
    if files.is_empty() {
        let layers = setup::layers(common)?;
        loaded.extend(
            layers
                .iter()
                .map(|layer| (layer.name().to_owned(), layer.rules().len())),
        );
    }
    for file in files {
        if file.extension().is_some_and(|kind| kind == "jsonl") {
            verdicts.extend(cases(file)?);
            continue;
        }
        match Layer::load(file) {
            Ok(layer) => loaded.push((layer.name().to_owned(), layer.rules().len())),
            Err(error) => broken.push(ErrorChain::of(&error).to_string()),
        }
    }
    let wrong: Vec<&CaseVerdict> = verdicts.iter().filter(|one| !one.is_right()).collect();
    let passed = wrong.is_empty() && broken.is_empty();
    if common.json {
        let cases: Vec<Value> = verdicts.iter().map(verdict).collect();
        let files: Vec<Value> = loaded
            .iter()
            .map(|(file, rules)| json!({"file": file, "rules": rules}))
            .collect();
        render::json(&json!({
            "passed": passed, "files": files, "errors": broken, "cases": cases,
            "failed": wrong.len(),
        }))?;
        return Ok(status(passed));
    }
    let mut text = String::new();
    for (file, rules) in &loaded {
        let rules = counted(*rules);
        text.push_str(&format!("{file}: {rules}, and every example holds\n"));
    }
    for error in &broken {
        text.push_str(&format!("{error}\n"));
    }
    for verdict in &wrong {
        let (expected, decided) = (word(verdict.expected), word(verdict.ruling.decision));
        let id = &verdict.id;
        if !verdict.decided {
            let because = &verdict.ruling.because;
            text.push_str(&format!("{id}: {decided}, not {expected}: {because}\n"));
        }
        for difference in &verdict.differences {
            text.push_str(&format!("{id}: {difference}\n"));
        }
        if !verdict.why.is_empty() {
            text.push_str(&format!("  the label: {}\n", verdict.why));
        }
    }
    if !verdicts.is_empty() {
        let right = verdicts.len() - wrong.len();
        text.push_str(&format!(
            "{right} of {} cases are as labelled\n",
            verdicts.len()
        ));
    }
    print(&text)?;
    Ok(status(passed))
}

fn cases(file: &Path) -> Result<Vec<CaseVerdict>, CliError> {
    input::cases(file, |line, text| {
        let failed = |source| CliError::PolicyCase {
            path: file.to_owned(),
            line,
            source: Box::new(source),
        };
        let case = LabelledCase::parse(text).map_err(failed)?;
        let verdict = if case.makes_files() {
            let base = tempfile::tempdir()?;
            let real = base.path().canonicalize()?;
            case.run(&real)
        } else {
            case.run(Path::new("/"))
        };
        verdict.map_err(failed)
    })
}

fn verdict(verdict: &CaseVerdict) -> Value {
    json!({
        "id": verdict.id,
        "kind": verdict.kind,
        "right": verdict.is_right(),
        "decision": word(verdict.ruling.decision),
        "expected": word(verdict.expected),
        "because": verdict.ruling.because,
        "differences": verdict.differences,
    })
}

/// Reports rules of files that never match, never decide or add nothing.
fn lints(common: &Common, files: &[PathBuf]) -> Result<ExitCode, CliError> {
    let layers = match files {
        [] => setup::layers(common)?,
        files => files
            .iter()
            .map(Layer::load)
            .collect::<Result<_, _>>()
            .map_err(RuntimeError::from)?,
    };
    let mut found = lint(&layers);
    // What is built in stands in no file, and nobody who reads this can change it.
    found.retain(|lint| lint.rule.line().is_some());
    if common.json {
        let found: Vec<Value> = found.iter().map(finding).collect();
        render::json(&json!({"findings": found}))?;
    } else {
        let mut text: String = found.iter().map(|lint| format!("{lint}\n")).collect();
        if found.is_empty() {
            let rules: usize = layers.iter().map(|layer| layer.rules().len()).sum();
            text = format!("{}, and each can decide\n", counted(rules));
        }
        print(&text)?;
    }
    Ok(status(found.is_empty()))
}

fn finding(lint: &Lint) -> Value {
    json!({
        "kind": lint.kind.as_str(),
        "rule": lint.rule.to_string(),
        "file": lint.rule.place(),
        "line": lint.rule.line(),
        "problem": lint.problem,
    })
}

/// The policy of this workspace, with its saved approvals.
async fn policy(common: &Common) -> Result<RulePolicy, CliError> {
    let (root, _) = setup::places(common)?;
    let (approvals, _) = setup::approvals(common).await?;
    // Read once, so that judging knows them.
    let listed = approvals.list().await;
    listed.map_err(|source| CliError::Approvals { source })?;
    Ok(RulePolicy::new(setup::layers(common)?)
        .home_of_user()
        .workspace(std::path::absolute(root)?)
        .approvals(approvals))
}

/// Shows the request that was asked about.
async fn asking<T>(
    common: &Common,
    asked: &Asked,
    then: impl FnOnce(&Request<'_>) -> T,
) -> Result<T, CliError> {
    let (root, _) = setup::places(common)?;
    let root = std::path::absolute(root)?;
    let resource = match asked.kind() {
        As::Command => {
            let cwd = asked
                .cwd
                .as_ref()
                .map_or_else(|| root.clone(), |cwd| root.join(cwd));
            Resource::command(&root, cwd, &asked.resource)
        }
        As::Path => Resource::path(&root, &asked.resource),
        As::Name => Resource::from(&asked.resource),
    };
    let mut facts = Facts::new();
    if let Some(session) = &asked.session {
        facts = facts.session(session.as_str());
    }
    if let Some(agent) = &asked.agent {
        facts = facts.agent(agent.as_str());
    }
    let wrong = |name: &String| CliError::Name { name: name.clone() };
    let source = match &asked.server {
        None => None,
        Some(name) => {
            let namespace = Namespace::new(name.as_str()).map_err(|_| wrong(name))?;
            Some(Source::Server(namespace))
        }
    };
    let tool = match (&asked.tool, &source) {
        (None, _) => None,
        (Some(name), source) => {
            let tool = ToolName::new(name.as_str()).map_err(|_| wrong(name))?;
            Some(Identity::new(
                source.as_ref().unwrap_or(&Source::Host),
                tool,
            ))
        }
    };
    let arguments = match &asked.arguments {
        None => None,
        Some(text) => Some(arguments(text).await?),
    };
    let mut request = Request::new(Action::new(&asked.action), [resource], &facts);
    request.source = source.as_ref();
    request.tool = tool.as_ref();
    request.set_arguments(arguments.as_ref());
    Ok(then(&request))
}

/// Arguments as a tool without a schema of its own would get them.
async fn arguments(text: &str) -> Result<Value, CliError> {
    let settlement = mirror::settle(json!({"type": "object"}), text.into(), &[])
        .await
        .map_err(RuntimeError::from)?;
    let problem = match settlement.outcome {
        Outcome::Refused(refusal) => refusal.operator(),
        _ => settlement.text(),
    };
    let output = settlement.output.map(Value::from);
    output.ok_or(CliError::Arguments { problem })
}

impl Asked {
    /// How the resource is read.
    fn kind(&self) -> As {
        self.read_as.unwrap_or(match self.action.as_str() {
            Rule::SHELL => As::Command,
            "read" | "write" | Rule::EXTERNAL => As::Path,
            _ => As::Name,
        })
    }
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

fn status(good: bool) -> ExitCode {
    ExitCode::from(u8::from(!good))
}

fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    let text = render::printable(text, out.is_terminal());
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// So many rules, in words.
fn counted(rules: usize) -> String {
    match rules {
        1 => "1 rule".to_owned(),
        _ => format!("{rules} rules"),
    }
}
