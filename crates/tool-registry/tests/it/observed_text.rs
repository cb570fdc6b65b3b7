//! Observers, and results that are text or that are cut.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_core::{
    Bound, Bounded, Bounding, BoxFuture, Call, Content, Digest, Facts, HandlerError, OutputPage,
    OutputStore, PageRequest, Produced, Retained, Retention, Settlement, StoreError,
    StoreErrorKind, Tool, ToolFailure,
};
use tool_registry::{GroundedArguments, Registry, RegistryBuilder, RepeatedCalls, Ungrounded};

use crate::passing::Pantry;
use crate::ports::{Count, Log, open};
use crate::tools::mirror;

/// Shows three bytes of what it keeps and says under which id, another one every time.
#[derive(Clone, Default)]
struct Numbered(Arc<AtomicUsize>);

impl OutputStore for Numbered {
    fn bound<'a>(&'a self, retention: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        let texts: Vec<_> = retention
            .content
            .iter()
            .filter_map(Content::as_text)
            .collect();
        let whole = texts.join("\n");
        let id = format!("out_{}", self.0.fetch_add(1, Ordering::SeqCst));
        let shown = vec![
            Content::text(&whole[..3]),
            Content::notice(format!("[The rest is kept as {id}.]")),
        ];
        let kept = Retained::new(id, whole.len() as u64, 1, Digest::of(whole.as_bytes()));
        Box::pin(async { Ok(Bounded::new(shown, kept)) })
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async { Err(StoreError::new(StoreErrorKind::NotFound, "no such output")) })
    }
}

/// Calls a tool that gives what the numbers make, in one run, and says which calls were told to be
/// repeated.
async fn told<P: Into<Produced> + 'static>(
    builder: RegistryBuilder,
    give: fn(i64) -> Result<P, HandlerError>,
    numbers: &[i64],
) -> Vec<bool> {
    told_within(builder, Bounding::Inherit, give, numbers).await
}

/// The same, of a tool with a bounding of its own.
async fn told_within<P: Into<Produced> + 'static>(
    builder: RegistryBuilder,
    bounding: Bounding,
    give: fn(i64) -> Result<P, HandlerError>,
    numbers: &[i64],
) -> Vec<bool> {
    let registry = builder.after(RepeatedCalls::new()).build();
    let next = Arc::new(Mutex::new(VecDeque::from(numbers.to_vec())));
    let tool = Tool::dynamic("Says it", json!({"type": "object"}), move |_, _| {
        let number = next.lock().unwrap().pop_front().unwrap();
        async move { give(number) }
    });
    let tool = tool.bounding(bounding);
    registry.register([("tool", tool)]).unwrap().keep();
    let mut told = Vec::new();
    for _ in numbers {
        let settled = settle(&registry, "tool", json!({})).await;
        told.push(settled.text().contains("was made before"));
    }
    told
}

async fn settle(registry: &Registry, name: &str, arguments: Value) -> Settlement {
    let facts = Facts::new().run("r");
    let call = Call::new(name, arguments);
    registry.snapshot().settle(call, &facts).await
}

fn long(number: i64) -> String {
    format!("a long text that ends with {number}")
}

fn fails(number: i64) -> Result<Value, HandlerError> {
    Err(ToolFailure::new(long(number)).into())
}

#[expect(clippy::unnecessary_wraps, reason = "it stands for a handler")]
fn says(number: i64) -> Result<Produced, HandlerError> {
    Ok(Produced::content([Content::text(long(number))]))
}

#[tokio::test]
async fn a_long_failure_or_text_that_is_kept_anew_every_time_is_still_the_same() {
    let kept = || {
        let bound = Bound::new(10, 1).unwrap();
        open().outputs(Arc::new(Numbered::default())).bound(bound)
    };
    let expected = [false, false, true, false, true];
    assert_eq!(told(kept(), fails, &[1, 2, 1, 1, 2]).await, expected);
    assert_eq!(told(kept(), says, &[1, 2, 1, 1, 2]).await, expected);
}

#[tokio::test]
async fn a_text_that_is_truncated_is_told_by_what_was_cut_off_too() {
    let truncate = Bounding::Truncate(Bound::new(10, 1).unwrap());
    let cuts = || open().outputs(Arc::new(Numbered::default()));
    let expected = [false, false, true, false, true];
    let numbers = [1, 2, 1, 1, 2];
    assert_eq!(
        told_within(cuts(), truncate, fails, &numbers).await,
        expected
    );
    assert_eq!(
        told_within(cuts(), truncate, says, &numbers).await,
        expected
    );
}

#[tokio::test]
async fn a_text_that_is_placed_is_told_by_what_it_says() {
    let most = NonZeroUsize::new(10).unwrap();
    let placed = open().artifacts(Pantry::default()).place_above(most);
    let told = told(placed, says, &[1, 2, 1, 1, 2]).await;
    assert_eq!(told, [false, false, true, false, true]);
}

#[tokio::test]
async fn two_images_are_two_results() {
    #[expect(clippy::unnecessary_wraps, reason = "it stands for a handler")]
    fn shows(number: i64) -> Result<Produced, HandlerError> {
        let data = number.to_be_bytes().to_vec();
        Ok(Produced::content([Content::image("image/png", data)]))
    }
    let told = told(open(), shows, &[1, 2, 1]).await;
    assert_eq!(told, [false, false, true]);
}

/// A tool that gives what it is told, and one whose arguments come from it. Calls that repeat are
/// told so before that is observed.
fn grounded(log: &Log, ground: Tool) -> Registry {
    let seen = log.clone();
    let observer = GroundedArguments::new(move |finding: &Ungrounded| {
        let paths = finding.arguments.join(" ");
        seen.write(format!("{paths} {}", finding.ground_called));
    });
    let reads = mirror(json!({"type": "object"}), &Count::default()).arguments_from(["list"]);
    // The one added last runs first.
    let builder = open().after(observer).after(RepeatedCalls::new());
    let registry = builder.build();
    let tools = [("list", ground), ("read", reads)];
    registry.register(tools).unwrap().keep();
    registry
}

#[tokio::test]
async fn a_ground_that_speaks_in_blocks_grounds_everything_and_one_that_failed_was_called() {
    let give = |arguments: Value| match arguments["as"].as_str() {
        Some("blocks") => Ok(Produced::content([Content::text("the user is u1")])),
        Some("nothing") => Ok(Produced::content([])),
        _ => Err(HandlerError::from(ToolFailure::new("no such list"))),
    };
    for (way, expected) in [
        ("blocks", &["/id false"][..]),
        ("nothing", &["/id false", "/id true"]),
        ("failure", &["/id false", "/id true"]),
    ] {
        let log = Log::default();
        let list = Tool::dynamic("Lists", json!({"type": "object"}), move |arguments, _| {
            let given = give(arguments);
            async move { given }
        });
        let registry = grounded(&log, list);
        settle(&registry, "read", json!({"id": "u1"})).await;
        settle(&registry, "list", json!({"as": way})).await;
        let again = settle(&registry, "list", json!({"as": way})).await;
        assert!(again.text().contains("was made before"), "{way}");
        settle(&registry, "read", json!({"id": "u1"})).await;
        assert_eq!(log.lines(), expected, "{way}");
    }
}
