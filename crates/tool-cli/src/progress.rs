//! What a long call shows while it runs.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tool_runtime::core::Progress;

/// A line on a terminal's standard error that says how far a call is. In a pipe it shows nothing.
#[derive(Clone)]
pub(crate) struct Line(ProgressBar);

impl Line {
    /// A line for one tool. It appears with the first sign of life.
    pub(crate) fn new(tool: &str) -> Self {
        let bar = ProgressBar::new_spinner();
        if !io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_prefix(tool.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    /// Shows one report.
    pub(crate) fn show(&self, progress: &Progress) {
        if let (Some(done), Some(total)) = (progress.done, progress.total) {
            self.0.set_message(match &progress.message {
                Some(message) => format!("{done} of {total}, {message}"),
                None => format!("{done} of {total}"),
            });
        } else if let Some(message) = &progress.message {
            self.0.set_message(message.clone());
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
