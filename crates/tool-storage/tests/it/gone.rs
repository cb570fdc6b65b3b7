use std::fs;

use tool_core::{Content, Facts, Identification, StoreErrorKind};
use tool_storage::Limits;

use crate::fixture::{DAY, Fixture, keep, page, retain, session};

/// What an operator reads of an output that is not there.
async fn told(fixture: &Fixture, id: &str, facts: Option<&Facts>) -> String {
    let error = page(&fixture.store, id, facts).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotFound, "one kind for all");
    error.to_string().replace(id, "it")
}

#[tokio::test]
async fn a_resumed_session_is_told_what_became_of_its_outputs() {
    let fixture = Fixture::limited(1_000, 1_000);
    let facts = session("s");
    let expired = keep(&fixture.store, &facts, 100).await;
    let read = keep(&fixture.store, &facts, 100).await;
    fixture.clock.advance(8 * DAY);
    // The one that is asked for goes at once, the other with the sweep.
    assert_eq!(
        told(&fixture, &read, Some(&facts)).await,
        "output it has expired"
    );
    assert_eq!(fixture.store.sweep(fixture.clock.now()).unwrap().outputs, 1);
    let evicted = keep(&fixture.store, &facts, 600).await;
    let removed = keep(&fixture.store, &facts, 600).await;
    fixture.store.remove(&removed).unwrap();
    let foreign = keep(&fixture.store, &session("other"), 100).await;
    for (id, says) in [
        (&*expired, "output it has expired"),
        (&*read, "output it has expired"),
        (&*evicted, "output it left to make room for later ones"),
        (&*removed, "output it was removed"),
        (&*foreign, "output it is another caller's"),
        (
            "out_0000000000000000",
            "output it is unknown or no longer kept",
        ),
    ] {
        assert_eq!(told(&fixture, id, Some(&facts)).await, says);
        // A store that is opened later knows it too.
        let other = page(&fixture.another(), id, Some(&facts))
            .await
            .unwrap_err();
        assert_eq!(other.to_string().replace(id, "it"), says);
    }
}

#[tokio::test]
async fn the_end_of_a_session_takes_its_outputs_and_no_others() {
    let fixture = Fixture::new();
    let ended = session("ended");
    let _live = fixture.store.pin_session("ended");
    let gone = keep(&fixture.store, &ended, 100).await;
    keep(&fixture.store, &ended, 100).await;
    let same_id = session("ended").identity(Identification::principal("ann"));
    let stays = [
        keep(&fixture.store, &session("other"), 100).await,
        keep(&fixture.store, &same_id, 100).await,
        keep(&fixture.store, &Facts::new(), 100).await,
    ];
    assert_eq!(fixture.store.remove_all(&ended).unwrap(), 2);
    assert_eq!(fixture.store.remove_all(&ended).unwrap(), 0);
    assert_eq!(fixture.store.remove_all(&Facts::new()).unwrap(), 0);
    let (mut left, mut stays) = (fixture.ids(), stays.to_vec());
    left.sort();
    stays.sort();
    assert_eq!(left, stays);
    let says = told(&fixture, &gone, Some(&ended)).await;
    assert_eq!(says, "output it left with the end of its session");
}

#[tokio::test]
async fn a_session_makes_room_for_itself_and_takes_nothing_from_others() {
    let fixture = Fixture::with(|builder| {
        let limits = Limits::new(1_000, 10_000, 7 * DAY).unwrap();
        builder.limits(limits.session_bytes(1_500.try_into().unwrap()))
    });
    let facts = session("s");
    let _live = fixture.store.pin_session("s");
    let other = keep(&fixture.store, &session("other"), 1_000).await;
    let first = keep(&fixture.store, &facts, 700).await;
    fixture.clock.advance(DAY);
    let second = keep(&fixture.store, &facts, 800).await;
    assert_eq!(fixture.ids().len(), 3, "exactly as much as it may have");
    let third = keep(&fixture.store, &facts, 1).await;
    let ids = fixture.ids();
    assert!(!ids.contains(&first));
    for stays in [&other, &second, &third] {
        assert!(ids.contains(stays));
    }
    // What is written while it is made counts as it grows.
    let mut output = fixture
        .store
        .begin(&facts, "shell", tool_core::Bound::DEFAULT)
        .unwrap();
    output.write(&"x".repeat(900)).await.unwrap();
    assert!(!fixture.ids().contains(&second));
    drop(output);
    let content = vec![Content::text("x".repeat(900))];
    retain(&fixture.store, &Facts::new(), content)
        .await
        .unwrap();
}

#[tokio::test]
async fn many_outputs_over_thirty_days_stay_within_quota_and_time() {
    const COUNT: u32 = 10_000;
    let fixture = Fixture::limited(10_000, 200_000);
    let mut first = None;
    for number in 0..COUNT {
        let facts = session(&format!("s{}", number / 100));
        let len = 100 + (number as usize * 37) % 900;
        let id = keep(&fixture.store, &facts, len).await;
        first.get_or_insert((id, facts));
        if number % (COUNT / 30) == 0 {
            fixture.clock.advance(DAY);
            fixture.store.sweep(fixture.clock.now()).unwrap();
            let outputs = fixture.store.list().unwrap();
            assert!(outputs.iter().map(|output| output.bytes).sum::<u64>() <= 200_000);
            let now = fixture.clock.now();
            assert!(outputs.iter().all(|output| output.created + 7 * DAY > now));
        }
    }
    let on_disk: u64 = fixture
        .names()
        .iter()
        .map(|name| fs::metadata(fixture.root().join(name)).unwrap().len())
        .sum();
    assert!(
        on_disk <= 200_000 + fixture.names().len() as u64 * 500,
        "{on_disk}"
    );
    let (id, facts) = first.unwrap();
    for store in [&fixture.store, &fixture.another()] {
        let error = page(store, &id, Some(&facts)).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::NotFound, "not a broken store");
        let told = error.to_string().replace(&id, "it");
        assert_eq!(told, "output it left to make room for later ones");
    }
    // The last ones are there until they have had their time, and a session that is resumed then is
    // told so, however many others there were.
    let last = keep(&fixture.store, &facts, 100).await;
    assert!(page(&fixture.store, &last, Some(&facts)).await.is_ok());
    fixture.clock.advance(8 * DAY);
    assert_eq!(
        told(&fixture, &last, Some(&facts)).await,
        "output it has expired"
    );
    fixture.store.sweep(fixture.clock.now()).unwrap();
    assert!(fixture.names().is_empty(), "everything has had its time");
}

#[test]
fn what_is_noted_of_outputs_that_left_stays_small() {
    let fixture = Fixture::new();
    let gone = fixture.root().join(".gone");
    fs::write(&gone, "out_0123456789abcdef r\n".repeat(60_000)).unwrap();
    fixture.store.sweep(fixture.clock.now()).unwrap();
    let noted = fs::read_to_string(&gone).unwrap();
    assert!(noted.len() <= 512 * 1024 && noted.len() > 500 * 1024);
    assert!(noted.lines().all(|line| line == "out_0123456789abcdef r"));
}

#[tokio::test]
async fn a_note_that_is_no_text_hides_no_other_and_stops_no_sweep() {
    let fixture = Fixture::new();
    let facts = session("s1");
    let id = keep(&fixture.store, &facts, 10).await;
    fixture.store.remove(&id).unwrap();
    let gone = fixture.root().join(".gone");
    let mut noted = fs::read(&gone).unwrap();
    noted.extend_from_slice(b"\xff\xfe out_ \xff\n");
    fs::write(&gone, &noted).unwrap();
    assert_eq!(told(&fixture, &id, None).await, "output it was removed");

    // So many that the older half is forgotten, with bytes that are no text in the newer one.
    let mut many = b"out_0123456789abcdef r\n".repeat(60_000);
    many.extend_from_slice(&noted);
    fs::write(&gone, &many).unwrap();
    fs::write(fixture.root().join(".gone-new"), "of a process that died").unwrap();
    fixture.store.sweep(fixture.clock.now()).unwrap();
    assert!(fs::metadata(&gone).unwrap().len() <= 512 * 1024);
    assert!(!fixture.root().join(".gone-new").exists());
    assert_eq!(told(&fixture, &id, None).await, "output it was removed");
}
