use tool_core::{
    Content, Facts, Identification, OutputStore as _, PageRequest, StoreError, StoreErrorKind,
};

use crate::fixture::{DAY, Fixture, keep, page, retain, session};

#[track_caller]
fn assert_not_found<T>(result: Result<T, StoreError>, operator_text: &str) {
    let error = result.err().expect("nothing to be found");
    assert_eq!(error.kind(), StoreErrorKind::NotFound);
    assert_eq!(error.to_string(), operator_text);
}

#[tokio::test]
async fn unknown_expired_and_foreign_answer_alike_and_tell_operators_apart() {
    let fixture = Fixture::new();
    let (own, other) = (session("own"), session("other"));
    let id = keep(&fixture.store, &own, 10).await;
    let store = &fixture.store;

    assert_not_found(
        page(store, &id, Some(&other)).await,
        &format!("output {id} is another caller's"),
    );
    let unknown = "out_0000000000000000";
    assert_not_found(
        page(store, unknown, Some(&own)).await,
        "output out_0000000000000000 is unknown or no longer kept",
    );
    fixture.clock.advance(7 * DAY);
    assert_not_found(
        page(store, &id, Some(&own)).await,
        &format!("output {id} has expired"),
    );
    assert!(fixture.names().is_empty(), "expiry holds on read");
    assert_not_found(
        page(store, &id, Some(&own)).await,
        &format!("output {id} has expired"),
    );
}

#[tokio::test]
async fn a_text_that_is_no_id_names_nothing_and_is_not_repeated() {
    let fixture = Fixture::new();
    std::fs::write(fixture.dir.path().join("secret"), "s3cret").unwrap();
    for text in [
        "",
        "out_",
        "../secret",
        "/etc/passwd",
        "out_../../secret00",
        "out_ABCDEFGHJKMNPQRS",
        "out_\0",
    ] {
        assert_not_found(
            page(&fixture.store, text, None).await,
            "what was asked for is no id of an output",
        );
        assert_not_found(
            fixture.store.remove(text),
            "what was asked for is no id of an output",
        );
    }
}

#[tokio::test]
async fn only_the_session_and_identity_that_retained_an_output_read_it() {
    let fixture = Fixture::new();
    let identity = |tenant| Identification::principal("ann").tenant(tenant);
    let callers = [
        Facts::new(),
        session("s"),
        session("t"),
        session("s").identity(identity("one")),
        session("s").identity(identity("two")),
        Facts::new().identity(identity("one")),
    ];
    let mut ids = Vec::new();
    for owner in &callers {
        ids.push(keep(&fixture.store, owner, 10).await);
    }
    for (owner, id) in callers.iter().zip(&ids) {
        for reader in &callers {
            let same_run = reader.clone().agent("another agent").message("m").run("r");
            let read = page(&fixture.store, id, Some(&same_run)).await;
            assert_eq!(read.is_ok(), owner == reader, "{owner:?} {reader:?}");
        }
        assert!(
            page(&fixture.store, id, None).await.is_ok(),
            "an operator reads all"
        );
    }
}

#[tokio::test]
async fn a_page_begins_on_the_character_that_holds_its_offset() {
    let fixture = Fixture::new();
    let content = vec![Content::text("aé\u{1F600}b")];
    let id = retain(&fixture.store, &Facts::new(), content)
        .await
        .unwrap()
        .retained
        .id;
    let read = |offset, max_bytes| {
        let store = fixture.store.clone();
        let id = id.clone();
        async move {
            let request = PageRequest::new(&id, None)
                .offset(offset)
                .max_bytes(max_bytes);
            let page = store.page(request).await.unwrap();
            assert_eq!(page.total, 8);
            let text = str::from_utf8(&page.bytes).unwrap().to_owned();
            (text, page.offset, page.next)
        }
    };
    let page = |text: &str, offset, next| (text.to_owned(), offset, next);
    assert_eq!(read(0, 8).await, page("aé\u{1F600}b", 0, None));
    assert_eq!(read(2, 2).await, page("é", 1, Some(3)));
    assert_eq!(read(6, 1).await, page("\u{1F600}", 3, Some(7)));
    assert_eq!(
        read(1, 5).await,
        page("é", 1, Some(3)),
        "no character is split at the end"
    );
    assert_eq!(
        read(0, 0).await,
        page("a", 0, Some(1)),
        "at least one character"
    );
    assert_eq!(read(3, usize::MAX).await, page("\u{1F600}b", 3, None));
    assert_eq!(read(8, 5).await, page("", 8, None));
    assert_eq!(read(u64::MAX, 5).await, page("", 8, None));
}

#[tokio::test]
async fn a_page_is_50_kib_unless_said_otherwise() {
    let fixture = Fixture::new();
    let id = keep(&fixture.store, &Facts::new(), 120_000).await;
    let page = page(&fixture.store, &id, None).await.unwrap();
    assert_eq!(
        (page.bytes.len(), page.next, page.total),
        (51_200, Some(51_200), 120_000)
    );
}
