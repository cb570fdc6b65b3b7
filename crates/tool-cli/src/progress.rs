//! What a long call shows while it runs.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tool_runtime::core::Progress;

use crate::render;

/// A line on a terminal's standard error that says how far a call is. In a pipe it shows nothing.
#[derive(Clone)]
pub(crate) struct Line(ProgressBar);

impl Line {
    /// A line for one tool.
    pub(crate) fn new(tool: &str) -> Self {
        let bar = ProgressBar::new_spinner();
        if !io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_prefix(one_line(tool));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    /// Shows one report.
    pub(crate) fn show(&self, progress: &Progress) {
        // A server that was imported writes the message: it gets one line and no say over the
        // terminal.
        let message = progress.message.as_deref().map(one_line);
        if let (Some(done), Some(total)) = (progress.done, progress.total) {
            self.0.set_message(match message {
                Some(message) => format!("{done} of {total}, {message}"),
                None => format!("{done} of {total}"),
            });
        } else if let Some(message) = message {
            self.0.set_message(message);
        }
    }

    /// Steps aside while something else is printed.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

fn one_line(message: &str) -> String {
    render::one_line(&message.replace(['\n', '\t'], " "))
}
