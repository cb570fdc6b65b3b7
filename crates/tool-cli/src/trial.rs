//! `tool args test`.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use tool_runtime::core::{Arguments, ErrorChain};

use crate::args::Common;
use crate::error::CliError;
use crate::labelled_case::{Case, Verdict};
use crate::{input, mirror, render};

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
    input::cases(file, |line, text| {
        let case: Case =
            serde_json::from_str(text).map_err(|source| CliError::Case { line, source })?;
        match case.problem() {
            Some(problem) => Err(CliError::Label { line, problem }),
            None => Ok(case),
        }
    })
}

async fn settle(case: &Case) -> Verdict {
    let arguments = match &case.raw {
        Value::String(text) => Arguments::Text(text.clone()),
        value => Arguments::from(value.clone()),
    };
    let settled = mirror::settle(case.schema.clone(), arguments, &case.options.strip_keys).await;
    match settled {
        Ok(settlement) => case.judge(&settlement),
        Err(error) => case.without_tool(&ErrorChain::of(&error).to_string()),
    }
}
