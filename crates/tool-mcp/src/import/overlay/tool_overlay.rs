//! What the operator sets for one tool.

use std::time::Duration;

use serde_json::{Map, Value};
use tool_core::{Bound, Bounding, Capability, Concurrency, Tool, ToolName};

use super::CallLimits;
use crate::import::reader::{Reader, SECONDS};
use crate::pin::FirstSight;

/// All that an overlay can say of a tool.
const KEYS: [&str; 9] = [
    "bound",
    "calls",
    "capabilities",
    "concurrency",
    "disabled",
    "hints",
    "rename",
    "timeout",
    "trust",
];
/// More text than that is no bound.
const MOST_BYTES: u64 = 1 << 30;

/// What becomes of the hints of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hints {
    /// They are passed on, and loosen nothing.
    Shown,
    /// They are passed on, and a tool that only reads by them needs no leave where no rule is
    /// about it.
    Believed,
    /// They are not passed on: whoever is told of the tool is told the worst.
    Withheld,
}

/// What the operator sets for one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolOverlay {
    pub(crate) trust: Option<FirstSight>,
    hints: Option<Hints>,
    capabilities: Option<Vec<Capability>>,
    bounding: Option<Bounding>,
    pub(crate) concurrency: Option<Concurrency>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) calls: CallLimits,
    pub(crate) rename: Option<ToolName>,
    pub(crate) disabled: bool,
}

impl ToolOverlay {
    /// Reads what can be said of a tool alone and of all tools of a server.
    pub(super) fn shared(reader: &mut Reader, at: &str, members: &Map<String, Value>) -> Self {
        let mut overlay = Self::default();
        if let Some((at, value)) = reader.member(at, members, "trust") {
            let words = [("first", FirstSight::Trust), ("approve", FirstSight::Hold)];
            overlay.trust = reader.word(&at, value, &words);
        }
        if let Some((at, value)) = reader.member(at, members, "hints") {
            let words = [
                ("shown", Hints::Shown),
                ("believed", Hints::Believed),
                ("withheld", Hints::Withheld),
            ];
            overlay.hints = reader.word(&at, value, &words);
        }
        if let Some((at, value)) = reader.member(at, members, "capabilities") {
            overlay.capabilities = capabilities(reader, &at, value);
        }
        if let Some((at, value)) = reader.member(at, members, "bound") {
            overlay.bounding = bounding(reader, &at, value);
        }
        if let Some((at, value)) = reader.member(at, members, "concurrency") {
            overlay.concurrency = concurrency(reader, &at, value);
        }
        overlay
    }

    pub(super) fn read(reader: &mut Reader, at: &str, value: &Value) -> Self {
        let Some(members) = reader.members(at, value, &KEYS) else {
            return Self::default();
        };
        let mut overlay = Self::shared(reader, at, members);
        if let Some((at, value)) = reader.member(at, members, "timeout") {
            let seconds = reader.whole(&at, value, SECONDS);
            overlay.timeout = seconds.map(Duration::from_secs);
        }
        if let Some((at, value)) = reader.member(at, members, "calls") {
            overlay.calls = CallLimits::read(reader, &at, value);
        }
        if let Some((at, value)) = reader.member(at, members, "rename")
            && let Some(name) = reader.text(&at, value)
        {
            match ToolName::new(name) {
                Ok(name) => overlay.rename = Some(name),
                Err(problem) => reader.wrong(&at, problem.to_string()),
            }
        }
        if let Some((at, value)) = reader.member(at, members, "disabled") {
            overlay.disabled = reader.flag(&at, value);
        }
        overlay
    }

    /// The same, and what is set for all where nothing is set here.
    pub(super) fn or(self, all: &Self) -> Self {
        Self {
            trust: self.trust.or(all.trust),
            hints: self.hints.or(all.hints),
            capabilities: self.capabilities.or_else(|| all.capabilities.clone()),
            bounding: self.bounding.or(all.bounding),
            concurrency: self.concurrency.or_else(|| all.concurrency.clone()),
            ..self
        }
    }

    /// Whether a tool that only reads, by its server's word, needs no leave.
    pub(crate) fn believes_hints(&self) -> bool {
        self.hints == Some(Hints::Believed)
    }

    /// Whether the hints of the server are kept from everybody.
    pub(crate) fn withholds_hints(&self) -> bool {
        self.hints == Some(Hints::Withheld)
    }

    /// The tool with what is set for it.
    pub(crate) fn on(&self, mut tool: Tool) -> Tool {
        if let Some(capabilities) = &self.capabilities {
            tool = tool.capabilities(capabilities.iter().cloned());
        }
        if let Some(bounding) = self.bounding {
            tool = tool.bounding(bounding);
        }
        if let Some(concurrency) = &self.concurrency {
            tool = tool.concurrency(concurrency.clone());
        }
        if let Some(timeout) = self.timeout {
            tool = tool.timeout(timeout);
        }
        tool
    }
}

fn capabilities(reader: &mut Reader, at: &str, value: &Value) -> Option<Vec<Capability>> {
    let Some(words) = value.as_array() else {
        reader.wrong(at, "is no array");
        return None;
    };
    let mut capabilities = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let at = format!("{at}.{index}");
        let Some(word) = reader.text(&at, word) else {
            continue;
        };
        let known = [
            Capability::MemoryRead,
            Capability::MemoryWrite,
            Capability::ExternalNet,
            Capability::UserData,
        ];
        let capability = known.into_iter().find(|known| known.as_str() == word);
        match word {
            word if word.trim().is_empty() => reader.wrong(&at, "is blank"),
            "call" => reader.wrong(&at, "stands for the call itself; use another word"),
            _ => {
                capabilities.push(capability.unwrap_or_else(|| Capability::Other(word.to_owned())))
            }
        }
    }
    Some(capabilities)
}

/// How a bound is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Retain,
    Truncate,
    Refuse,
    Inline,
}

fn bounding(reader: &mut Reader, at: &str, value: &Value) -> Option<Bounding> {
    let members = reader.members(at, value, &["bytes", "lines", "mode"])?;
    let mode = match reader.member(at, members, "mode") {
        None => Mode::Retain,
        Some((at, value)) => reader.word(
            &at,
            value,
            &[
                ("retain", Mode::Retain),
                ("truncate", Mode::Truncate),
                ("refuse", Mode::Refuse),
                ("inline", Mode::Inline),
            ],
        )?,
    };
    let mut number = |key: &str, default: usize| match reader.member(at, members, key) {
        None => Some(default),
        Some((at, _)) if mode == Mode::Inline => {
            reader.wrong(&at, "stands beside the mode \"inline\", which has no bound");
            None
        }
        Some((at, value)) => {
            let number = reader.whole(&at, value, 1..=MOST_BYTES)?;
            usize::try_from(number).ok()
        }
    };
    let bytes = number("bytes", Bound::DEFAULT.bytes());
    let lines = number("lines", Bound::DEFAULT.lines());
    let bound = Bound::new(bytes?, lines?).ok()?;
    Some(match mode {
        Mode::Retain => Bounding::Within(bound),
        Mode::Truncate => Bounding::Truncate(bound),
        Mode::Refuse => Bounding::Refuse(bound),
        Mode::Inline => Bounding::Inline,
    })
}

fn concurrency(reader: &mut Reader, at: &str, value: &Value) -> Option<Concurrency> {
    if value.is_string() {
        let words = [("parallel", false), ("exclusive", true)];
        return Some(match reader.word(at, value, &words)? {
            true => Concurrency::Exclusive,
            false => Concurrency::Parallel,
        });
    }
    let members = reader.members(at, value, &["key"])?;
    let Some((at, value)) = reader.member(at, members, "key") else {
        reader.wrong(at, "names no \"key\"");
        return None;
    };
    let pointer = reader.text(&at, value)?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        reader.wrong(&at, "is no JSON pointer; begin it with \"/\"");
        return None;
    }
    Some(Concurrency::ByKey(pointer.to_owned()))
}
