//! The calls of a response in the making.

use tool_core::{Arguments, FinishReason};

use super::StreamPart;
use crate::unique_ids::UniqueIds;
use crate::{Api, IncomingCall};

/// A call that began.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// What events tell it by. Some servers give several calls the same.
    pub(super) key: u64,
    pub(super) given_id: Option<String>,
    pub(super) call: IncomingCall,
    pub(super) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its arguments are still coming.
    Open,
    /// It was handed out.
    Whole,
    /// It ended and is not whole.
    CutOff,
}

/// The calls of one response.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    api: Api,
    made: Vec<Made>,
    ids: UniqueIds,
    finish: Option<FinishReason>,
}

impl Made {
    /// The text of the arguments, where they are text.
    pub(super) fn text(&self) -> &str {
        match &self.call.arguments {
            Arguments::Text(text) => text,
            _ => "",
        }
    }
}

impl Calls {
    pub(super) fn of(api: Api) -> Self {
        Self {
            api,
            made: Vec::new(),
            ids: UniqueIds::default(),
            finish: None,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.finish.is_some()
    }

    pub(super) fn finish_reason(&self) -> Option<&FinishReason> {
        self.finish.as_ref()
    }

    pub(super) fn made(&self) -> impl Iterator<Item = &Made> {
        self.made.iter()
    }

    /// The keys of the calls that are open, in their order.
    pub(super) fn open_keys(&self) -> Vec<u64> {
        let open = self.made.iter().filter(|it| it.state == State::Open);
        open.map(|it| it.key).collect()
    }

    pub(super) fn start(&mut self, key: u64, given_id: Option<&str>, name: &str) -> StreamPart {
        let given = given_id.filter(|id| !id.is_empty());
        let position = self.made.len();
        let id = self.ids.of(self.api, given, position);
        self.made.push(Made {
            key,
            given_id: given.map(str::to_owned),
            call: IncomingCall {
                position,
                id: id.clone(),
                name: name.to_owned(),
                arguments: Arguments::Text(String::new()),
            },
            state: State::Open,
        });
        StreamPart::CallStarted {
            position,
            id,
            name: name.to_owned(),
        }
    }

    /// The last call under a key, if it is open.
    pub(super) fn open(&self, key: u64) -> Option<&Made> {
        let made = self.made.iter().rev();
        let mut open = made.filter(|it| it.key == key && it.state == State::Open);
        open.next()
    }

    pub(super) fn open_mut(&mut self, key: u64) -> Option<&mut Made> {
        let made = self.made.iter_mut().rev();
        let mut open = made.filter(|it| it.key == key && it.state == State::Open);
        open.next()
    }

    pub(super) fn extend(&mut self, key: u64, piece: &str) -> Option<StreamPart> {
        let open = self.open_mut(key)?;
        let Arguments::Text(text) = &mut open.call.arguments else {
            return None;
        };
        if piece.is_empty() {
            return None;
        }
        text.push_str(piece);
        Some(StreamPart::ArgumentsPiece {
            position: open.call.position,
            piece: piece.to_owned(),
        })
    }

    /// Says what the whole text of the arguments is.
    pub(super) fn replace(&mut self, key: u64, whole: &str) -> Option<StreamPart> {
        if self.open(key)?.text().is_empty() {
            return self.extend(key, whole);
        }
        if let Some(open) = self.open_mut(key).filter(|_| !whole.is_empty()) {
            open.call.arguments = Arguments::Text(whole.to_owned());
        }
        None
    }

    pub(super) fn complete(&mut self, key: u64) -> Option<StreamPart> {
        let open = self.open_mut(key)?;
        open.state = State::Whole;
        Some(StreamPart::Call(open.call.clone()))
    }

    pub(super) fn cut_off(&mut self, key: u64) {
        if let Some(open) = self.open_mut(key) {
            open.state = State::CutOff;
        }
    }

    fn cut_off_all(&mut self) {
        let open = self.made.iter_mut().filter(|it| it.state == State::Open);
        open.for_each(|it| it.state = State::CutOff);
    }

    /// Ends the response. Calls that are open are whole only if it is.
    pub(super) fn finish(&mut self, finish: FinishReason, parts: &mut Vec<StreamPart>) {
        if finish.is_complete() {
            for made in self.made.iter_mut().filter(|it| it.state == State::Open) {
                made.state = State::Whole;
                parts.push(StreamPart::Call(made.call.clone()));
            }
        }
        self.finish_without_open(finish, parts);
    }

    /// Ends the response. Calls that are open are not whole.
    pub(super) fn finish_without_open(
        &mut self,
        finish: FinishReason,
        parts: &mut Vec<StreamPart>,
    ) {
        self.cut_off_all();
        self.finish = Some(finish.clone());
        parts.push(StreamPart::Finish(finish));
    }

    pub(super) fn fail(&mut self, kind: &str) -> StreamPart {
        self.cut_off_all();
        self.finish = Some(FinishReason::Error);
        StreamPart::Failed {
            kind: kind.to_owned(),
        }
    }
}
