//! What a projection leaves out of what a model reads is in no page of it either.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::core::{Bound, Call, Facts, OutputReading, PageRequest, Settlement};
use tool_runtime::{Content, Context, Runtime, Tool};

#[derive(Deserialize, JsonSchema)]
struct Empty {}

/// What nobody may read, longer than a page that a test asks for.
const SECRET: &str = "canary-7f3a9c1e5b2d8f60";

/// A log that holds a secret in every line, so that some lie over the border of any page.
fn log() -> String {
    let lines = (0..5_000).map(|line| format!("{line:04} token={SECRET} done\n"));
    lines.collect()
}

fn redacted() -> String {
    log().replace(SECRET, "[redacted]")
}

fn assert_without_secret(bytes: &[u8], what: &str) {
    // A half of it is one too many.
    let half = &SECRET.as_bytes()[..SECRET.len() / 2];
    assert!(!bytes.windows(half.len()).any(|it| it == half), "{what}");
}

/// Every byte that lies in a folder and in those below it.
fn assert_nowhere_in(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => assert_nowhere_in(&path),
            false => assert_without_secret(&fs::read(&path).unwrap(), &path.display().to_string()),
        }
    }
}

async fn settled(runtime: &Runtime, facts: &Facts) -> Settlement {
    let tool = Tool::new("Reads the log", |_: Empty, _: Context| async { Ok(log()) })
        .model(|_, log: String| [Content::text(log.replace(SECRET, "[redacted]"))]);
    let _tool = runtime.register([("log", tool)]).unwrap();
    let call = Call::new("log", "{}".to_owned());
    runtime.snapshot().settle(call, facts).await
}

#[tokio::test]
async fn s5_what_is_redacted_is_redacted_before_there_are_pages() {
    let dir = tempfile::tempdir().unwrap();
    let rules =
        "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"call\"\nresource = \"log\"\n";
    let policy = dir.path().join("policy.toml");
    fs::write(&policy, rules).unwrap();
    let state = dir.path().join("state");
    let runtime = Runtime::builder().state(&state).policy(policy);
    let runtime = runtime.bound(Bound::new(2_000, 50).unwrap()).build().await;
    let (runtime, facts) = (runtime.unwrap(), Facts::new().session("s1"));
    let settlement = settled(&runtime, &facts).await;

    let [retained] = &settlement.retained[..] else {
        panic!("{settlement:?}");
    };
    for block in &settlement.content {
        assert_without_secret(block.as_text().unwrap().as_bytes(), "the preview");
    }
    assert_eq!(retained.bytes, redacted().len() as u64);
    let store = &**runtime.outputs().unwrap();
    for page_bytes in [7, 50, 50 * 1024] {
        // Pages of seven bytes are read of the beginning alone, which has all their borders.
        let most = if page_bytes == 7 { 700 } else { usize::MAX };
        let (mut read, mut next) = (Vec::new(), Some(0));
        while let Some(offset) = next.filter(|_| read.len() < most) {
            let request = PageRequest::new(&retained.id, Some(&facts));
            let page = store
                .page(request.offset(offset).max_bytes(page_bytes))
                .await;
            let page = page.unwrap();
            read.extend_from_slice(&page.bytes);
            next = page.next;
        }
        assert!(redacted().as_bytes().starts_with(&read));
        assert!(read.len() >= most.min(redacted().len()), "{page_bytes}");
    }
    let output = OutputReading::of(store, &retained.id, Some(&facts));
    let lines = output.lines(4_000..=4_001, 1_000).await.unwrap();
    assert_eq!(
        lines.text,
        "3999 token=[redacted] done\n4000 token=[redacted] done\n"
    );
    let found = output.search(&SECRET[..8], 10).await.unwrap();
    assert!(found.found.is_empty(), "{found:?}");
    assert_nowhere_in(&state);
}
