use std::fs;

use tool_core::{Content, Facts, Identification};
use tool_storage::ManagedOutputs as _;

use crate::fixture::{Fixture, page, retain};

/// An output as the first format stored it: its name and its file.
const FORMAT_1: (&str, &[u8]) = (
    "out_0123456789abcdef",
    include_bytes!("format/out_0123456789abcdef"),
);

fn owner() -> Facts {
    let identity = Identification::principal("ann").tenant("acme");
    Facts::new().session("s1").identity(identity)
}

#[tokio::test]
async fn outputs_of_format_1_are_read() {
    let fixture = Fixture::new();
    let (id, file) = FORMAT_1;
    fs::write(fixture.root().join(id), file).unwrap();
    let page = page(&fixture.store, id, Some(&owner())).await.unwrap();
    assert_eq!(&*page.bytes, "one\r\ntwo \u{1F600}".as_bytes());
    let listed = fixture.store.list().unwrap();
    assert_eq!((&*listed[0].tool, listed[0].lines), ("shell", 2));
    fixture.store.verify(id).await.unwrap();
}

#[tokio::test]
async fn what_is_stored_today_is_format_1() {
    let fixture = Fixture::new();
    let content = vec![Content::text("one\r\ntwo \u{1F600}")];
    let id = retain(&fixture.store, &owner(), content)
        .await
        .unwrap()
        .retained
        .id;
    let file = fs::read(fixture.root().join(&id)).unwrap();
    // The id is random and the digest of the record in the footer with it; all else is fixed.
    let without_footer = |file: &[u8]| String::from_utf8(file[..file.len() - 48].to_vec()).unwrap();
    let known = without_footer(FORMAT_1.1).replace(FORMAT_1.0, &id);
    assert_eq!(without_footer(&file), known);
    assert!(file.ends_with(b"toolout1"));
}
