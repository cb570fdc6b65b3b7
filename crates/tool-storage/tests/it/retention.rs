use tool_core::{Bound, Content, Embedded, EmbeddedBody, Facts, OutputStore as _, Retention};
use tool_storage::{DirStore, Durability, ManagedOutputs as _, ReadingHint};

use crate::fixture::{DAY, Fixture, page, pages, retain, session, texts};

#[tokio::test]
async fn over_the_bound_the_whole_is_stored_and_the_preview_says_how_to_read_it() {
    let fixture = Fixture::new();
    let text: String = (0..9_000).map(|line| format!("line {line}\r\n")).collect();
    let bounded = retain(&fixture.store, &session("s"), vec![Content::text(&*text)])
        .await
        .unwrap();

    assert_eq!(
        pages(&fixture.store, &bounded.retained.id, 50 * 1024)
            .await
            .concat(),
        text.as_bytes()
    );
    assert_eq!(bounded.retained.bytes, text.len() as u64);
    assert_eq!(bounded.retained.lines, 9_000);
    fixture.store.verify(&bounded.retained.id).await.unwrap();
    let shown = texts(&bounded.content);
    assert!(shown[0].starts_with("line 0\r\n") && shown[2].ends_with("line 8999\r\n"));
    assert!(shown[1].contains(&bounded.retained.id));
    assert!(shown.iter().map(|text| text.len()).sum::<usize>() <= 1_000);
}

#[tokio::test]
async fn texts_are_stored_with_a_newline_between_two_where_none_is() {
    let fixture = Fixture::new();
    let blocks = ["", "a", "b\n", "", "\n", "c\r", ""].map(Content::text);
    let bounded = retain(&fixture.store, &Facts::new(), blocks.into())
        .await
        .unwrap();
    let stored = pages(&fixture.store, &bounded.retained.id, 100)
        .await
        .concat();
    assert_eq!(stored, b"a\nb\n\nc\r");
    assert_eq!(bounded.retained.lines, 4);
}

#[tokio::test]
async fn law_08_what_is_no_text_passes_unchanged_and_is_not_stored() {
    let fixture = Fixture::new();
    let image = Content::image("image/png", vec![7_u8; 100_000]);
    let body = EmbeddedBody::Text("embedded ".repeat(10_000));
    let embedded = Content::Embedded(Embedded::new("file:///e", None, body));
    let content = vec![
        image.clone(),
        Content::text("t".repeat(2_000)),
        embedded.clone(),
    ];
    let bounded = retain(&fixture.store, &Facts::new(), content)
        .await
        .unwrap();
    assert_eq!(bounded.content.first(), Some(&image));
    assert_eq!(bounded.content.last(), Some(&embedded));
    assert_eq!(bounded.retained.bytes, 2_000);
}

#[tokio::test]
async fn the_bound_of_each_call_is_honoured() {
    let fixture = Fixture::new();
    let facts = Facts::new();
    let content = vec![Content::text("line of text\n".repeat(10_000))];
    for (bytes, lines) in [(1_000, 2), (1_000, 2_000), (51_200, 20), (700, 3)] {
        let bound = Bound::new(bytes, lines).unwrap();
        let bounded = fixture
            .store
            .bound(Retention::new(content.clone(), bound, &facts, "shell"))
            .await
            .unwrap();
        let shown = texts(&bounded.content);
        assert!(shown.iter().map(|text| text.len()).sum::<usize>() <= bytes);
        // Under two lines the marker's own comes on top.
        assert!(shown.iter().map(|text| text.lines().count()).sum::<usize>() <= lines.max(3));
    }
}

#[tokio::test]
async fn a_store_that_is_opened_again_knows_its_outputs() {
    let fixture = Fixture::new();
    let facts = session("s");
    let first = retain(&fixture.store, &facts, vec![Content::text("a\nb")])
        .await
        .unwrap();
    fixture.clock.advance(DAY);
    let second = retain(&fixture.store, &Facts::new(), vec![Content::text("c")])
        .await
        .unwrap();

    let listed = fixture.another().list().unwrap();
    assert_eq!(listed, fixture.store.list().unwrap());
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[0].id, first.retained.id);
    assert_eq!(listed[0].tool, "shell");
    assert_eq!(
        listed[0].call.as_ref().map(|call| call.as_str()),
        Some("call-1")
    );
    assert_eq!(listed[0].session.as_ref(), facts.session_id());
    assert_eq!((listed[0].bytes, listed[0].lines), (3, 2));
    assert_eq!(listed[0].digest, first.retained.digest);
    assert_eq!(listed[0].created + DAY, listed[1].created);
    assert_eq!(
        (&listed[1].id, &listed[1].session),
        (&second.retained.id, &None)
    );
    assert!(
        page(&fixture.another(), &first.retained.id, Some(&facts))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn what_another_process_stores_and_removes_is_seen() {
    let fixture = Fixture::new();
    let other = fixture.another();
    let id = retain(&other, &Facts::new(), vec![Content::text("x")])
        .await
        .unwrap()
        .retained
        .id;
    assert_eq!(fixture.ids(), [&*id]);
    assert!(page(&fixture.store, &id, None).await.is_ok());
    fixture.store.remove(&id).unwrap();
    assert!(other.list().unwrap().is_empty());
    assert!(page(&other, &id, None).await.is_err());
}

#[tokio::test]
async fn an_output_that_is_to_survive_a_power_cut_is_stored_the_same_way() {
    let fixture = Fixture::with(|builder| builder.durability(Durability::Power));
    let bounded = retain(
        &fixture.store,
        &Facts::new(),
        vec![Content::text("x".repeat(300_000))],
    )
    .await
    .unwrap();
    assert_eq!(
        pages(&fixture.store, &bounded.retained.id, 1 << 20)
            .await
            .concat()
            .len(),
        300_000
    );
    assert_eq!(fixture.names(), [bounded.retained.id]);
}

#[tokio::test]
async fn the_markers_of_a_store_say_what_its_host_says() {
    let hint = ReadingHint::new("Run `tool output read {id}`.").unwrap();
    let fixture = Fixture::with(|builder| builder.reading_hint(hint));
    let bounded = retain(
        &fixture.store,
        &Facts::new(),
        vec![Content::text("x".repeat(3_000))],
    )
    .await
    .unwrap();
    let says = format!("Run `tool output read {}`.]", bounded.retained.id);
    assert!(texts(&bounded.content)[1].ends_with(&says));
}

#[test]
fn a_store_can_be_shared_and_is_a_port() {
    fn is_shared<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    is_shared::<DirStore>();
    fn is_port(_: &dyn tool_core::OutputStore) {}
    is_port(&Fixture::new().store);
}
