//! The state of a turn between two events.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;
use futures_util::stream::{SelectAll, StreamExt as _};
use tool_core::{Call, CallId, FinishReason, Outcome, Settlement};

use super::assembly::Assembly;
use super::history::AssistantPart;
use super::{History, Part, TurnError, TurnEvent};
use crate::pipeline::misfit;
use crate::siblings::Siblings;
use crate::stop::unrun;
use crate::{SettlementEvent, Turn};

/// Parts that are taken one after the other before the calls have their turn, as parts that are
/// there already would else hold them up for as long as whoever takes the events is slow.
const MOST_IN_A_ROW: usize = 32;

type Running = Pin<Box<dyn Stream<Item = (usize, SettlementEvent)> + Send>>;

/// The events of a turn. See [`Turn`](crate::Turn).
///
/// # Cancel safety
/// Dropping it cancels every call that has not settled. Between two events nothing is lost.
#[must_use = "nothing runs until it is polled"]
pub struct TurnStream<S, E> {
    calls: Calls,
    parts: Option<Pin<Box<S>>>,
    /// Whether all parts are there, and none of the calls has its turn before they are taken.
    is_whole: bool,
    /// Parts that were taken since the calls had their turn.
    in_a_row: usize,
    assembly: Assembly,
    history: History,
    events: VecDeque<TurnEvent<E>>,
    /// The call that the stream has not moved past yet.
    newest: Option<(usize, Call)>,
    finish: Option<FinishReason>,
    ended: bool,
}

/// The calls of a turn that run or wait for their turn to run.
struct Calls {
    siblings: Siblings,
    queued: VecDeque<(usize, Call)>,
    running: SelectAll<Running>,
    begun: Vec<(usize, Option<CallId>, String)>,
}

impl<S, E> TurnStream<S, E>
where
    S: Stream<Item = Result<Part, E>>,
{
    pub(super) fn new(turn: Turn, parts: S, is_whole: bool) -> Self {
        let Turn { siblings, resolved } = turn;
        let resolved = resolved.into_iter().map(Box::new);
        Self {
            events: resolved.map(TurnEvent::Resolved).collect(),
            calls: Calls {
                siblings,
                queued: VecDeque::new(),
                running: SelectAll::new(),
                begun: Vec::new(),
            },
            parts: Some(Box::pin(parts)),
            is_whole,
            in_a_row: 0,
            assembly: Assembly::default(),
            history: History::default(),
            newest: None,
            finish: None,
            ended: false,
        }
    }

    /// What the turn adds to the conversation, as far as it has come.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Takes what the turn adds to the conversation.
    #[must_use]
    pub fn into_history(self) -> History {
        self.history
    }

    fn take(&mut self, part: Part) -> Result<(), TurnError> {
        if self.finish.is_some() {
            return Err(TurnError::AfterFinish);
        }
        // Whatever comes, the stream has moved past the newest call, unless it was cut off.
        let cut_off = matches!(&part, Part::Finish(reason) if !reason.is_complete());
        if !cut_off {
            self.start_newest();
        }
        match part {
            Part::Text(text) => {
                self.history.push_text(&text);
                self.events.push_back(TurnEvent::Text(text));
            }
            Part::CallStarted { index, id, name } => self.assembly.begin(index, id, name)?,
            Part::Arguments { index, text } => self.assembly.append(index, &text)?,
            Part::CallComplete { index } => {
                let call = self.assembly.complete(index)?;
                self.newest = Some(self.announce(call));
            }
            Part::Call(call) => self.newest = Some(self.announce(call)),
            Part::ProviderCall(call) => {
                let call = self.assembly.with_unique_provider_id(call);
                self.history.push_call(&call, true);
                let entry = self.calls.siblings.snapshot.get(call.name());
                let invalid = entry.and_then(|entry| misfit(entry, call.arguments()));
                let event = TurnEvent::ProviderCall { call, invalid };
                self.events.push_back(event);
            }
            Part::ProviderResult {
                id,
                result,
                is_error,
            } => {
                let part = AssistantPart::ProviderResult {
                    id: self.assembly.provider_id(id),
                    result,
                    is_error,
                };
                self.history.assistant.push(part);
            }
            Part::Finish(reason) => {
                if cut_off {
                    self.interrupt();
                } else {
                    self.drop_unfinished();
                }
                self.finish = Some(reason);
            }
        }
        Ok(())
    }

    /// Gives a call its position and says that it was made.
    fn announce(&mut self, call: Call) -> (usize, Call) {
        let call = self.assembly.with_unique_id(call);
        let position = self.history.settled.len();
        self.history.settled.push(None);
        self.history.push_call(&call, false);
        self.events.push_back(TurnEvent::Call {
            position,
            call: call.clone(),
        });
        (position, call)
    }

    fn start_newest(&mut self) {
        if let Some(newest) = self.newest.take() {
            self.calls.queued.push_back(newest);
        }
    }

    /// Answers calls whose arguments never became complete.
    fn drop_unfinished(&mut self) {
        for call in self.assembly.take_unfinished() {
            let (position, call) = self.announce(call);
            self.leave_out(position, call);
        }
    }

    /// Stops everything and answers every call that has no answer yet.
    fn interrupt(&mut self) {
        let never_started: Vec<_> = self
            .newest
            .take()
            .into_iter()
            .chain(self.calls.queued.drain(..))
            .collect();
        // Dropping a running call is what cancels it.
        self.calls.running.clear();
        for (position, call) in never_started {
            self.leave_out(position, call);
        }
        for (position, id, name) in std::mem::take(&mut self.calls.begun) {
            let unanswered = self.history.settled.get(position);
            if unanswered.is_some_and(Option::is_none) {
                self.answer(position, id, &name, Outcome::Cancelled);
            }
        }
        self.drop_unfinished();
    }

    fn leave_out(&mut self, position: usize, call: Call) {
        let (id, name, _) = call.into_parts();
        let outcome = Outcome::NotDispatched { stopped_by: None };
        self.answer(position, id, &name, outcome);
    }

    /// Answers a call that has no answer of its own.
    fn answer(&mut self, position: usize, id: Option<CallId>, name: &str, outcome: Outcome) {
        let Siblings {
            snapshot, facts, ..
        } = &self.calls.siblings;
        let settlement = unrun(snapshot, facts, id, name, outcome);
        self.settle(position, settlement);
    }

    fn settle(&mut self, position: usize, settlement: Settlement) {
        if let Some(slot) = self.history.settled.get_mut(position) {
            *slot = Some(settlement.clone());
        }
        self.events.push_back(TurnEvent::Settled {
            position,
            settlement: Box::new(settlement),
        });
    }

    fn fail(&mut self, event: TurnEvent<E>) {
        self.parts = None;
        self.interrupt();
        self.events.push_back(event);
        self.ended = true;
    }
}

impl Calls {
    /// Starts what may run now.
    fn fill(&mut self) {
        while self.running.len() < self.siblings.limit.get() {
            let Some((position, call)) = self.queued.pop_front() else {
                return;
            };
            let (id, name) = (call.call_id().cloned(), call.name().to_owned());
            self.begun.push((position, id, name));
            let events = self.siblings.events(call);
            self.running
                .push(Box::pin(events.map(move |event| (position, event))));
        }
    }

    fn is_idle(&self) -> bool {
        self.queued.is_empty() && self.running.is_empty()
    }
}

impl<S, E> Stream for TurnStream<S, E>
where
    S: Stream<Item = Result<Part, E>>,
    E: Unpin,
{
    type Item = TurnEvent<E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<TurnEvent<E>>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            if this.ended {
                return Poll::Ready(None);
            }
            if this.in_a_row == MOST_IN_A_ROW && !this.calls.is_idle() {
                // In a task that never gives way, no timer of its runtime goes on.
                this.in_a_row += 1;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let (mut waits_for_parts, passed_over) = (false, this.in_a_row >= MOST_IN_A_ROW);
            if let Some(parts) = this.parts.as_mut().filter(|_| !passed_over) {
                match parts.as_mut().poll_next(cx) {
                    Poll::Ready(Some(Ok(part))) => {
                        this.in_a_row += usize::from(!this.is_whole);
                        if let Err(error) = this.take(part) {
                            this.fail(TurnEvent::Malformed(error));
                        }
                        continue;
                    }
                    Poll::Ready(Some(Err(error))) => {
                        this.fail(TurnEvent::Failed(error));
                        continue;
                    }
                    // A response that ends without a reason counts as whole.
                    Poll::Ready(None) => {
                        this.parts = None;
                        this.start_newest();
                        this.drop_unfinished();
                        continue;
                    }
                    // Nothing of interest comes after the end, though a connection may stay open.
                    Poll::Pending => waits_for_parts = this.finish.is_none(),
                }
            }
            this.in_a_row = 0;
            this.calls.fill();
            match this.calls.running.poll_next_unpin(cx) {
                Poll::Ready(Some((position, event))) => match event {
                    SettlementEvent::Progress(progress) => {
                        return Poll::Ready(Some(TurnEvent::Progress { position, progress }));
                    }
                    SettlementEvent::Preliminary(value) => {
                        return Poll::Ready(Some(TurnEvent::Preliminary { position, value }));
                    }
                    SettlementEvent::Settled(settlement) => this.settle(position, *settlement),
                },
                Poll::Ready(None) if !this.calls.is_idle() => {}
                Poll::Ready(None) | Poll::Pending if passed_over => {}
                Poll::Ready(None) if waits_for_parts => return Poll::Pending,
                Poll::Ready(None) => {
                    this.ended = true;
                    let reason = this.finish.take().unwrap_or(FinishReason::Stop);
                    return Poll::Ready(Some(TurnEvent::Finish(reason)));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<S, E> fmt::Debug for TurnStream<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnStream")
            .field("history", &self.history)
            .finish_non_exhaustive()
    }
}
