//! Asking the person at the terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tool_runtime::core::{Answer, Approver, ApproverError, Ask, BoxFuture, NobodyToAsk, Word};

use crate::progress::Line;
use crate::render;

/// Nobody is asked.
pub(crate) fn nobody() -> NobodyToAsk {
    NobodyToAsk
}

/// Asks on the terminal, if there is one at both ends; else nobody is asked.
pub(crate) fn terminal(quiet: bool, line: Line) -> Terminal {
    let attended = !quiet && io::stdin().is_terminal() && io::stderr().is_terminal();
    Terminal {
        attended,
        line,
        unanswered: Arc::default(),
    }
}

/// Who has answered, for the audit log.
const NAME: &str = "terminal";

/// Asks the person at the terminal, one question at a time. Anything but a clear yes is a no.
pub(crate) struct Terminal {
    attended: bool,
    line: Line,
    unanswered: Arc<AtomicBool>,
}

impl Terminal {
    /// Tells, once the call is settled, whether there was a question and nobody to ask.
    pub(crate) fn unanswered(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.unanswered)
    }
}

impl Approver for Terminal {
    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        Box::pin(async move {
            if !self.attended {
                self.unanswered.store(true, Ordering::Relaxed);
                return Ok(Answer::Nobody.into());
            }
            let question = question(&ask);
            let line = self.line.clone();
            let answer = tokio::task::spawn_blocking(move || line.suspend(|| put(&question)));
            match answer.await {
                Ok(Ok(true)) => Ok(Answer::Approved.by(NAME)),
                Ok(Ok(false)) => Ok(Answer::Declined { note: None }.by(NAME)),
                Ok(Err(error)) => Err(ApproverError::new(error)),
                Err(error) => Err(ApproverError::new(error)),
            }
        })
    }
}

fn question(ask: &Ask<'_>) -> String {
    let wish = match ask.request.action.as_str() {
        "shell" => "wants to run".to_owned(),
        "read" => "wants to read".to_owned(),
        "write" => "wants to write".to_owned(),
        "external" => "wants to go outside of the workspace".to_owned(),
        "call" => "is to be called".to_owned(),
        action => format!("wants \"{}\"", render::one_line(action)),
    };
    let mut text = format!("{} {wish}:\n", source(ask));
    for resource in ask.request.resources.iter() {
        text.push_str(&format!("  {}\n", render::one_line(&resource.to_string())));
    }
    if let Some(metadata) = ask.request.metadata {
        for (key, value) in metadata {
            let shown = render::one_line(&format!("{key}: {value}"));
            text.push_str(&format!("  ({shown})\n"));
        }
    }
    text.push_str("Allow it this time? [y/N] ");
    text
}

fn source(ask: &Ask<'_>) -> String {
    match ask.request.tool {
        Some(tool) => render::one_line(&tool.to_string()),
        None => "A tool".to_owned(),
    }
}

fn put(question: &str) -> io::Result<bool> {
    let mut err = io::stderr().lock();
    err.write_all(question.as_bytes())?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
