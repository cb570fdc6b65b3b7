use std::sync::Arc;

use serde_json::json;
use tool_builtin::Options;
use tool_core::{
    Bounded, BoxFuture, HandlerErrorKind, OutputPage, OutputStore, PageRequest, Resource,
    Retention, StoreError, StoreErrorKind,
};

use crate::fixture::{Room, control, done, failure, run};

/// One output, `out_1`, of the session `s1`.
pub(crate) struct Kept(String);

impl Kept {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl OutputStore for Kept {
    fn bound<'a>(&'a self, _: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        unreachable!("a page is never retained again")
    }

    fn page<'a>(
        &'a self,
        request: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async move {
            if request.id == "broken" {
                return Err(StoreError::new(
                    StoreErrorKind::Io,
                    "disk at /host/path failed",
                ));
            }
            let session = request.facts.and_then(|facts| facts.session_id());
            if request.id != "out_1" || session.is_none_or(|session| session.as_str() != "s1") {
                return Err(StoreError::new(StoreErrorKind::NotFound, "no such output"));
            }
            let text = &self.0;
            let offset = usize::try_from(request.offset).unwrap().min(text.len());
            let start = text.floor_char_boundary(offset);
            let end = text.floor_char_boundary((start + request.max_bytes).min(text.len()));
            let page = text[start..end].to_owned().into_bytes();
            Ok(OutputPage::new(
                page.into(),
                start as u64,
                text.len() as u64,
            ))
        })
    }
}

fn tool(room: &Room, text: &str) -> tool_core::Tool {
    room.tool_with(
        "read_output",
        Some(Arc::new(Kept::new(text))),
        Options::new(),
    )
}

#[tokio::test]
async fn the_pages_one_after_the_other_are_the_whole() {
    let room = Room::new();
    let text: String = (0..40_000).map(|n| format!("{n} ü\n")).collect();
    let tool = tool(&room, &text);
    let (mut whole, mut offset) = (String::new(), json!(0));
    loop {
        let page = done(&tool, json!({"id": "out_1", "offset": offset})).await;
        let shown = page.texts();
        assert!(shown[0].len() <= 51_200);
        whole.push_str(shown[0]);
        match page.structured.get("next") {
            Some(next) => {
                assert!(shown[1].ends_with(&format!("read on with offset {next}]")));
                offset = next.clone();
            }
            None => {
                assert_eq!(shown.len(), 1);
                break;
            }
        }
    }
    assert!(whole == text);
}

#[tokio::test]
async fn a_page_has_at_least_a_character_and_at_most_50_kib_whatever_is_asked_for() {
    let room = Room::new();
    let tool = tool(&room, &"x".repeat(60_000));
    for (asked, length) in [(0_u64, 1), (1, 1), (51_200, 51_200), (u64::MAX, 51_200)] {
        // Past the schema, which the pipeline would hold the call to.
        let control = control(None);
        let input = json!({"id": "out_1", "max_bytes": asked});
        let prepared = tool.executor().prepare(&input).unwrap();
        let mut running = prepared.run(control.context());
        running
            .as_mut()
            .await
            .map_err(|error| error.into_kind())
            .unwrap();
        let output = running
            .as_mut()
            .encode()
            .unwrap()
            .output
            .unwrap()
            .into_value();
        assert_eq!(output["text"].as_str().unwrap().len(), length, "{asked}");
    }
}

#[tokio::test]
async fn a_page_says_where_it_stands() {
    let room = Room::new();
    let tool = tool(&room, "0123456789");
    let page = done(&tool, json!({"id": "out_1", "offset": 2, "max_bytes": 3})).await;
    assert_eq!(
        page.texts(),
        ["234", "[bytes 2 to 5 of 10; read on with offset 5]"]
    );
    assert_eq!(
        page.structured,
        json!({"offset": 2, "next": 5, "total": 10})
    );
    let page = done(&tool, json!({"id": "out_1", "offset": 99})).await;
    assert_eq!(
        page.texts(),
        ["[the output ends at byte 10; there is nothing to read]"]
    );
}

#[tokio::test]
async fn an_unknown_output_is_a_failure_and_a_broken_store_is_none() {
    let room = Room::new();
    let tool = tool(&room, "text");
    assert_eq!(
        failure(&tool, json!({"id": "out_2"})).await,
        "there is no output of that id; it may have expired, and ids hold only in the session that made them"
    );
    let broken = run(&tool, json!({"id": "broken"})).await;
    assert!(matches!(broken, Err(HandlerErrorKind::Defect(_))));
}

#[tokio::test]
async fn policy_is_asked_about_the_id() {
    let room = Room::new();
    let tool = tool(&room, "text");
    done(&tool, json!({"id": "out_1"})).await;
    failure(&tool, json!({"id": "*"})).await;
    let asked = room.policy.asked();
    assert_eq!(asked[0].action, "output");
    assert_eq!(asked[0].resources, [Resource::from("out_1")]);
    assert_eq!(asked[0].save, ["out_1"]);
    assert_eq!(asked[1].save, [""; 0]);
}

#[tokio::test]
async fn a_part_can_be_named_by_lines_by_a_pointer_or_by_what_it_holds() {
    let room = Room::new();
    let tool = tool(&room, "[\"one\",\n\"two\",\n\"three\"]");
    let page = done(&tool, json!({"id": "out_1", "line": 2, "lines": 1})).await;
    assert_eq!(page.texts(), ["\"two\",\n"]);
    let page = done(&tool, json!({"id": "out_1", "line": 1, "max_bytes": 10})).await;
    assert_eq!(page.texts(), ["[\"one\",\n", "[read on with line 2]"]);
    let page = done(&tool, json!({"id": "out_1", "line": 9})).await;
    assert_eq!(page.texts(), ["[the output has fewer lines]"]);
    let page = done(&tool, json!({"id": "out_1", "pointer": "/2"})).await;
    assert_eq!(page.texts(), ["\"three\""]);
    let page = done(&tool, json!({"id": "out_1", "pointer": "", "max_bytes": 5})).await;
    assert_eq!(
        page.texts(),
        [
            "[\"one",
            "[5 of 21 bytes; it is a list of 3 items; point inside of it]"
        ]
    );
    let page = done(&tool, json!({"id": "out_1", "search": "t"})).await;
    assert_eq!(page.texts(), ["2: \"two\",\n3: \"three\"]\n"]);
    let page = done(&tool, json!({"id": "out_1", "search": "four"})).await;
    assert_eq!(page.texts(), ["[no line holds that]"]);
}
