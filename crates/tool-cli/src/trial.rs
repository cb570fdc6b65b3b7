//! `tool args test`.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use tool_runtime::Tool;
use tool_runtime::core::{
    Arguments, BoxFuture, Call, Decision, ErrorChain, Facts, NobodyToAsk, Permission, Policy,
    PolicyError, Request, Ruling,
};
use tool_runtime::registry::Registry;

use crate::args::Common;
use crate::error::CliError;
use crate::labelled_case::{Case, Verdict};
use crate::render;

/// Tells what becomes of labelled arguments, and whether it is what their labels say.
pub(crate) async fn test(common: &Common, file: &Path) -> Result<ExitCode, CliError> {
    let cases = cases(file)?;
    let mut verdicts = Vec::with_capacity(cases.len());
    for case in &cases {
        verdicts.push(settle(case).await);
    }
    let rates = Rates::of(&cases, &verdicts);
    let faulty = verdicts.iter().any(|verdict| verdict.fault.is_some());
    if common.json {
        let documents: Vec<_> = verdicts.into_iter().map(Verdict::into_document).collect();
        let document = json!({"cases": documents, "summary": rates.document()});
        render::json(&document)?;
    } else {
        let mut out = io::stdout().lock();
        let terminal = out.is_terminal();
        for (case, verdict) in cases.iter().zip(&verdicts) {
            if let Some(fault) = &verdict.fault {
                let line = format!("{}: {fault}", case.id);
                writeln!(out, "{}", render::printable(&line, terminal))?;
            }
        }
        writeln!(out, "{}", rates.line())?;
        out.flush()?;
    }
    Ok(ExitCode::from(u8::from(faulty)))
}

/// How many cases ended as their labels say.
struct Rates {
    cases: usize,
    as_labelled: usize,
    to_repair: usize,
    repaired: usize,
    to_leave: usize,
    touched: usize,
}

impl Rates {
    fn of(cases: &[Case], verdicts: &[Verdict]) -> Self {
        let pairs = || cases.iter().zip(verdicts);
        let labelled = |label: bool| pairs().filter(move |(case, _)| case.repaired == Some(label));
        let repaired = |(_, verdict): &(&Case, &Verdict)| verdict.repaired;
        Self {
            cases: cases.len(),
            as_labelled: pairs().filter(|(_, one)| one.fault.is_none()).count(),
            to_repair: labelled(true).count(),
            repaired: labelled(true).filter(repaired).count(),
            to_leave: labelled(false).count(),
            touched: labelled(false).filter(repaired).count(),
        }
    }

    fn line(&self) -> String {
        format!(
            "{} of {} cases as labelled; repaired {} of {} that should be, and {} of {} that should not",
            self.as_labelled,
            self.cases,
            self.repaired,
            self.to_repair,
            self.touched,
            self.to_leave
        )
    }

    fn document(&self) -> Value {
        json!({
            "cases": self.cases,
            "asLabelled": self.as_labelled,
            "repairs": {
                "wanted": self.to_repair,
                "made": self.repaired,
                "unwanted": self.to_leave,
                "false": self.touched,
            },
        })
    }
}

fn cases(file: &Path) -> Result<Vec<Case>, CliError> {
    let text = if file.as_os_str() == "-" {
        let mut text = String::new();
        io::stdin()
            .lock()
            .read_to_string(&mut text)
            .map_err(|source| CliError::ReadInput { source })?;
        text
    } else {
        std::fs::read_to_string(file).map_err(|source| CliError::Read {
            path: file.to_owned(),
            source,
        })?
    };
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            let line_number = index + 1;
            let case: Case = serde_json::from_str(line).map_err(|source| CliError::Case {
                line: line_number,
                source,
            })?;
            match case.problem() {
                Some(problem) => Err(CliError::Label {
                    line: line_number,
                    problem,
                }),
                None => Ok(case),
            }
        })
        .collect()
}

/// Settles one case by a tool that gives back what it is given.
async fn settle(case: &Case) -> Verdict {
    let registry = Registry::builder()
        .permission(Permission::new(Anything, NobodyToAsk))
        .injected_keys(case.options.strip_keys.iter())
        .build();
    let mirror = Tool::dynamic(
        "Gives back what it is given",
        case.schema.clone(),
        |input: Value, _| async move { Ok(input) },
    );
    let _mirror = match registry.register([("tool", mirror)]) {
        Ok(registration) => registration,
        Err(error) => return case.without_tool(&ErrorChain::of(&error).to_string()),
    };
    let arguments = match &case.raw {
        Value::String(text) => Arguments::Text(text.clone()),
        value => Arguments::Value(value.clone()),
    };
    let call = Call::new("tool", arguments);
    let settlement = registry.snapshot().settle(call, &Facts::new()).await;
    case.judge(&settlement)
}

/// Lets everything run: nothing but the arguments is on trial.
struct Anything;

impl Policy for Anything {
    fn decide<'a>(&'a self, _: &'a Request<'a>) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async { Ok(Ruling::new(Decision::Allow, "arguments are on trial")) })
    }
}
