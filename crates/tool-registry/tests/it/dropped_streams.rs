//! Dropping a stream, a batch or a turn after every possible number of polls: nothing is left of
//! it but what was seen.

use std::pin::Pin;
use std::task::Poll;

use futures_util::{Stream, StreamExt as _, stream};
use tool_core::Facts;
use tool_registry::{Approvals, Batch, FinishReason, Part, SettlementEvent, TurnEvent, TurnStream};

use crate::dropped_anywhere::{TOOLS, World, call, drop_everywhere, kept, outputs};
use crate::slow::with_timers;

/// Calls of every kind, some of which wait for each other.
const MANY: [&str; 10] = [
    "keyed",
    "alone",
    "placed",
    "keyed",
    "outer",
    "missing",
    "demanding",
    "typed",
    "failing",
    "handled",
];

fn batch(world: &World) -> Batch {
    let batch = world.snapshot().batch(MANY.map(call), &Facts::new());
    batch.concurrency(3.try_into().unwrap())
}

#[test]
fn a_batch_leaves_nothing_wherever_it_is_dropped() {
    for asks in [false, true] {
        drop_everywhere(asks, |world| {
            let batch = batch(world);
            Box::pin(async move { outputs(&batch.settle().await) })
        });
    }
}

/// What a settlement in `event` has in stores.
fn retained(event: &SettlementEvent) -> usize {
    match event {
        SettlementEvent::Settled(settled) => kept(settled),
        _ => 0,
    }
}

/// With room for one early result only, so that handlers that give more wait for room as well.
#[test]
fn a_stream_of_a_call_of_any_tool_leaves_nothing_wherever_it_is_dropped() {
    for asks in [false, true] {
        for name in TOOLS {
            drop_everywhere(asks, |world| {
                let settling = world.snapshot().settle(call(name), &Facts::new());
                let mut events = settling.stream_ahead(1.try_into().unwrap());
                Box::pin(async move {
                    let mut seen = 0;
                    while let Some(event) = events.next().await {
                        seen += retained(&event);
                    }
                    seen
                })
            });
        }
    }
}

/// Streams give out settlements one by one, so those that were seen keep their outputs though the
/// stream is dropped; whatever else there is must go.
fn drop_stream<S>(
    asks: bool,
    start: impl Fn(&World) -> S,
    retained: impl Fn(&S::Item) -> usize,
    ends: usize,
) where
    S: Stream + Unpin,
{
    for polls in 0..5_000 {
        let world = World::new(asks);
        let mut events = start(&world);
        let (mut seen, mut ended) = (0, false);
        for _ in 0..polls {
            let next = Pin::new(&mut events);
            match with_timers(|cx| next.poll_next(cx)) {
                Poll::Ready(Some(event)) => seen += retained(&event),
                Poll::Ready(None) => {
                    ended = true;
                    break;
                }
                Poll::Pending => {}
            }
        }
        drop(events);
        world.is_quiet(polls, seen);
        if ended {
            assert_eq!(seen, ends);
            // Each that ran was cleaned up after: those of this test, and the one that came last.
            assert_eq!(world.cleaned.get(), world.runs.get());
            return;
        }
    }
    panic!("the stream never ends");
}

#[test]
fn a_stream_of_a_batch_leaves_nothing_wherever_it_is_dropped() {
    for asks in [false, true] {
        let start = |world: &World| batch(world).stream();
        drop_stream(asks, start, |(_, event)| retained(event), 9);
    }
}

type Response = stream::Iter<std::vec::IntoIter<Result<Part, std::io::Error>>>;

/// A turn whose response makes calls of every kind, and ends as `reason` says.
fn turn(
    world: &World,
    approvals: Approvals,
    reason: FinishReason,
) -> TurnStream<Response, std::io::Error> {
    let calls = MANY.map(|name| Part::Call(call(name)));
    let mut parts: Vec<_> = calls.into_iter().collect();
    parts.insert(2, Part::Text("and".to_owned()));
    parts.push(Part::Finish(reason));
    let parts: Vec<_> = parts.into_iter().map(Ok).collect();
    let turn = world.snapshot().turn(&Facts::new()).approvals(approvals);
    turn.concurrency(3.try_into().unwrap())
        .run(stream::iter(parts))
}

#[test]
fn a_turn_leaves_nothing_wherever_it_is_dropped() {
    for (asks, approvals, reason, ends) in [
        (false, Approvals::Inline, FinishReason::ToolCalls, 9),
        (true, Approvals::Inline, FinishReason::ToolCalls, 9),
        // All of them wait, so none has an output.
        (true, Approvals::Suspend, FinishReason::ToolCalls, 0),
        (false, Approvals::Inline, FinishReason::Length, 0),
    ] {
        let start = |world: &World| turn(world, approvals, reason.clone());
        let retained = |event: &TurnEvent<std::io::Error>| match event {
            TurnEvent::Settled { settlement, .. } => kept(settlement),
            _ => 0,
        };
        drop_stream(asks, start, retained, ends);
    }
}
