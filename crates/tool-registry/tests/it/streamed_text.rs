//! Text that a handler hands to the store while it makes it.

use std::future::{IntoFuture as _, pending};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Waker};

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tool_core::{
    Bound, Bounded, Bounding, BoxFuture, Call, Content, Context, Digest, Facts, HandlerError, Loss,
    Outcome, OutputPage, OutputSink, OutputStore, PageRequest, Produced, Retained, Retention,
    Settlement, StoreError, StoreErrorKind, Streamed, Tool,
};
use tool_registry::Registry;

use crate::ports::open;

/// A store that takes text in pieces. Its preview is a marker with the bound, the text's length
/// and the loss.
#[derive(Clone, Debug, Default)]
struct Stream(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    /// Of whom each was: tool, call, session.
    owners: Vec<String>,
    shown: Vec<String>,
    forgotten: Vec<String>,
    bounded: usize,
    is_full: bool,
    /// The number of the piece that is not taken.
    refused: Option<usize>,
    pieces: usize,
    cannot_bound: bool,
}

/// A store that never ends to take a piece.
struct Hanging;

impl OutputStore for Hanging {
    fn bound<'a>(&'a self, _: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        Box::pin(pending())
    }

    fn stream(&self, _: Retention<'_>) -> Result<Option<Box<dyn OutputSink>>, StoreError> {
        Ok(Some(Box::new(Self)))
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(pending())
    }
}

impl OutputSink for Hanging {
    fn write<'a>(&'a mut self, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(pending())
    }

    fn report_loss(&mut self, _: Loss) {}

    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<Bounded, StoreError>> {
        Box::pin(async {
            let retained = Retained::new("out_hung", 0, 0, Digest::of(b""));
            Ok(Bounded::new(Vec::new(), retained))
        })
    }
}

struct Sink {
    store: Stream,
    bound: Bound,
    text: String,
    loss: Option<Loss>,
}

impl OutputStore for Stream {
    fn bound<'a>(&'a self, _: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        let mut kept = self.0.lock().unwrap();
        kept.bounded += 1;
        let cannot = kept.cannot_bound;
        Box::pin(async move {
            if cannot {
                return Err(StoreError::new(StoreErrorKind::Io, "it cannot be written"));
            }
            let retained = Retained::new("out_whole", 0, 0, Digest::of(b""));
            Ok(Bounded::new(vec![Content::text("bounded")], retained))
        })
    }

    fn stream(&self, of: Retention<'_>) -> Result<Option<Box<dyn OutputSink>>, StoreError> {
        let (call, session) = (of.call.unwrap(), of.facts.session_id().unwrap());
        let owner = format!("{} {} {}", of.tool, call.as_str(), session.as_str());
        assert!(of.content.is_empty());
        self.0.lock().unwrap().owners.push(owner);
        Ok(Some(Box::new(Sink {
            store: self.clone(),
            bound: of.bound,
            text: String::new(),
            loss: None,
        })))
    }

    fn forget(&self, retained: &Retained) {
        self.0.lock().unwrap().forgotten.push(retained.id.clone());
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async { Err(StoreError::new(StoreErrorKind::NotFound, "no such output")) })
    }
}

impl OutputSink for Sink {
    fn write<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut kept = self.store.0.lock().unwrap();
            kept.pieces += 1;
            if kept.is_full || kept.refused == Some(kept.pieces) {
                return Err(StoreError::new(
                    StoreErrorKind::Io,
                    "no space left on device",
                ));
            }
            self.text.push_str(text);
            Ok(())
        })
    }

    fn report_loss(&mut self, loss: Loss) {
        self.loss = Some(loss);
    }

    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<Bounded, StoreError>> {
        let Self {
            store,
            bound,
            text,
            loss,
        } = *self;
        let shown = &mut store.0.lock().unwrap().shown;
        let id = format!("out_{}", shown.len());
        let loss = loss.map_or_else(String::new, |loss| format!(", {loss} lost"));
        let (bytes, lines) = (bound.bytes(), bound.lines());
        let marker = format!("{} bytes under {bytes} and {lines}{loss}", text.len());
        let retained = Retained::new(id, text.len() as u64, 1, Digest::of(text.as_bytes()));
        shown.push(text);
        let bounded = Bounded::new(vec![Content::text(marker)], retained);
        Box::pin(std::future::ready(Ok(bounded)))
    }
}

/// Prints so many times, and shows what became of it. Ends as `then` says.
fn prints(text: &'static str, times: usize, then: &'static str) -> Tool {
    Tool::dynamic(
        "Prints",
        json!({"type": "object"}),
        move |_: Value, cx: Context| async move {
            let mut output = cx.stream_output();
            for _ in 0..times {
                output.write(text).await?;
            }
            let content = match output.finish(Some(Loss::bytes(7))).await? {
                Streamed::Whole(text) => vec![Content::text(text)],
                Streamed::Kept(content, _) => content,
            };
            match then {
                "wait" => pending().await,
                "break" => Err(HandlerError::defect("it broke")),
                _ => Ok(Produced::content(content)),
            }
        },
    )
}

fn registry(store: &Stream, tool: Tool) -> Registry {
    let bound = Bound::new(2_048, 100).unwrap();
    let registry = open().bound(bound).outputs(Arc::new(store.clone())).build();
    registry.register([("prints", tool)]).unwrap().keep();
    registry
}

async fn settled(store: &Stream, tool: Tool) -> Settlement {
    let call = Call::new("prints", "{}").id("c1");
    let facts = Facts::new().session("s1");
    registry(store, tool).snapshot().settle(call, &facts).await
}

#[tokio::test]
async fn text_over_the_bound_goes_to_the_store_once_and_is_not_bounded_again() {
    let store = Stream::default();
    let settled = settled(&store, prints("0123456789\n", 150, "end")).await;
    assert!(matches!(settled.outcome, Outcome::Completed));
    // Room for what a tool says beside its text is left.
    assert_eq!(settled.text(), "1650 bytes under 1024 and 96, 7 bytes lost");
    assert_eq!(settled.content.len(), 1, "the marker alone tells the loss");
    assert_eq!(settled.retained.len(), 1);
    assert_eq!(
        (&*settled.retained[0].id, settled.retained[0].bytes),
        ("out_0", 1_650)
    );
    let kept = store.0.lock().unwrap();
    assert_eq!(kept.owners, ["prints c1 s1"]);
    assert_eq!(kept.shown, ["0123456789\n".repeat(150)]);
    assert_eq!((kept.bounded, kept.forgotten.len()), (0, 0));
}

#[tokio::test]
async fn text_within_the_bound_is_kept_nowhere() {
    for (text, times) in [("0123456789\n", 90), ("\n", 96), ("x", 1_024)] {
        let store = Stream::default();
        let settled = settled(&store, prints(text, times, "end")).await;
        let [shown, loss] = &settled.content[..] else {
            panic!("the text and what was lost");
        };
        assert_eq!(shown.as_text(), Some(&*text.repeat(times)));
        assert!(loss.as_text().unwrap().contains("7 bytes"));
        assert!(settled.retained.is_empty());
        assert!(store.0.lock().unwrap().owners.is_empty());
    }
}

#[tokio::test]
async fn a_tool_of_another_mode_holds_its_text() {
    let bound = Bound::new(2_048, 100).unwrap();
    for (bounding, shown) in [
        (Bounding::Inline, 5_000),
        (Bounding::Truncate(bound), 0),
        (Bounding::Refuse(bound), 0),
    ] {
        let store = Stream::default();
        let tool = prints("0123456789", 500, "end").bounding(bounding);
        let settled = settled(&store, tool).await;
        assert!(settled.retained.is_empty(), "{bounding:?}");
        assert!(store.0.lock().unwrap().owners.is_empty(), "{bounding:?}");
        let whole = settled.content.iter().filter_map(Content::as_text);
        let longest = whole.map(str::len).max().unwrap();
        assert_eq!(longest == shown, shown > 0, "{bounding:?}: {longest}");
    }
}

#[tokio::test]
async fn law_09_no_lossy_success_when_the_store_cannot_take_a_piece() {
    let store = Stream::default();
    store.0.lock().unwrap().is_full = true;
    let settled = settled(&store, prints("0123456789\n", 150, "end")).await;
    assert!(matches!(settled.outcome, Outcome::Defect(_)));
    assert!(!settled.text().contains("0123"), "nothing of it is shown");
    assert!(settled.retained.is_empty());
}

#[tokio::test]
async fn law_09_no_lossy_success_of_a_handler_that_ignores_a_failed_piece() {
    for refused in [1, 2] {
        let store = Stream::default();
        store.0.lock().unwrap().refused = Some(refused);
        let tool = Tool::dynamic(
            "Prints",
            json!({"type": "object"}),
            |_: Value, cx: Context| async move {
                let mut output = cx.stream_output();
                for piece in ["a", "b", "c", "d"] {
                    let _ignored = output.write(&piece.repeat(1_500)).await;
                }
                match output.finish(None).await? {
                    Streamed::Whole(text) => Ok(Produced::content([Content::text(text)])),
                    Streamed::Kept(content, _) => Ok(Produced::content(content)),
                }
            },
        );
        let settled = settled(&store, tool).await;
        assert!(matches!(settled.outcome, Outcome::Defect(_)), "{refused}");
        assert!(settled.retained.is_empty());
        assert!(store.0.lock().unwrap().shown.is_empty());
    }
}

#[tokio::test]
async fn law_09_no_lossy_success_of_a_handler_that_drops_a_piece_midway() {
    let registry = open()
        .bound(Bound::new(2_048, 100).unwrap())
        .outputs(Arc::new(Hanging))
        .build();
    let tool = Tool::dynamic(
        "Prints",
        json!({"type": "object"}),
        |_: Value, cx: Context| async move {
            let mut output = cx.stream_output();
            let text = "a".repeat(1_500);
            let _dropped = output.write(&text).now_or_never();
            let _ignored = output.write("more").await;
            output.finish(None).await?;
            Ok(Produced::content([Content::text("all is well")]))
        },
    );
    registry.register([("prints", tool)]).unwrap().keep();
    let call = Call::new("prints", "{}");
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    assert!(matches!(settled.outcome, Outcome::Defect(_)));
}

#[tokio::test]
async fn what_was_streamed_is_named_when_what_came_later_could_not_be_kept() {
    let store = Stream::default();
    store.0.lock().unwrap().cannot_bound = true;
    let tool = Tool::dynamic(
        "Prints",
        json!({"type": "object"}),
        |_: Value, cx: Context| async move {
            let mut output = cx.stream_output();
            output.write(&"a".repeat(1_500)).await?;
            output.finish(None).await?;
            Ok(Produced::content([Content::text("b".repeat(5_000))]))
        },
    );
    let settled = settled(&store, tool).await;
    assert!(matches!(settled.outcome, Outcome::Defect(_)));
    let named: Vec<_> = settled.retained.iter().map(|kept| &*kept.id).collect();
    assert_eq!(named, ["out_0"]);
    assert!(store.0.lock().unwrap().forgotten.is_empty());
}

#[tokio::test]
async fn what_no_settlement_names_is_forgotten() {
    let store = Stream::default();
    let broken = settled(&store, prints("0123456789\n", 150, "break")).await;
    assert!(matches!(broken.outcome, Outcome::Defect(_)));
    assert!(broken.retained.is_empty());
    assert_eq!(store.0.lock().unwrap().forgotten, ["out_0"]);

    let registry = registry(&store, prints("0123456789\n", 150, "wait"));
    let facts = Facts::new().session("s1");
    let call = Call::new("prints", "{}").id("c1");
    let snapshot = registry.snapshot();
    let mut dropped = Box::pin(snapshot.settle(call, &facts).into_future());
    let mut cx = TaskContext::from_waker(Waker::noop());
    assert!(matches!(dropped.as_mut().poll(&mut cx), Poll::Pending));
    assert_eq!(store.0.lock().unwrap().shown.len(), 2);
    drop(dropped);
    assert_eq!(store.0.lock().unwrap().forgotten, ["out_0", "out_1"]);
}
