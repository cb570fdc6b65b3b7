use super::{Found, Ledger, What};
use crate::audit::measure::Contents;

fn closed(name: &str) -> Found {
    let contents = Contents {
        bytes: 1,
        lines: 1,
        first_ms: Some(1),
        last_ms: Some(2),
        digest: format!("sha-256:{name}"),
    };
    Found {
        name: name.to_owned(),
        what: What::Closed(contents),
    }
}

fn of(name: &str, what: What) -> Found {
    let name = name.to_owned();
    Found { name, what }
}

fn names(ledger: &Ledger) -> Vec<&str> {
    let entries = ledger.entries().iter();
    entries.map(|entry| entry.name.as_str()).collect()
}

fn is_sound(ledger: &Ledger) -> bool {
    let (entries, folders) = ledger.breaks();
    entries.is_empty() && folders.is_empty()
}

#[test]
fn an_entry_leaves_once_its_chain_begins_with_it_and_what_stays_hangs_together() {
    let mut ledger = Ledger::new();
    assert!(ledger.take(
        "f",
        &[closed("a"), closed("b"), closed("c"), of("d", What::Open)]
    ));
    assert!(ledger.take("g", &[closed("x")]));
    assert!(ledger.take("f", &[of("b", What::Removed)]));
    assert!(is_sound(&ledger));
    assert_eq!(names(&ledger), ["a", "b", "c", "d", "x"]);
    assert!(!ledger.take("f", &[of("b", What::Removed), of("never", What::Removed)]));
    assert!(ledger.take("f", &[of("a", What::Removed), of("d", What::Removed)]));
    assert_eq!(names(&ledger), ["c", "x"]);
    assert!(is_sound(&ledger));
    assert!(ledger.take("f", &[closed("e"), of("c", What::Removed)]));
    assert!(ledger.take("f", &[of("e", What::Removed)]));
    assert_eq!(names(&ledger), ["x"]);
    assert!(is_sound(&ledger));
    // A folder that has no entry any more is forgotten, and numbers never come back.
    assert!(ledger.folders.keys().eq(["g"]));
    assert!(ledger.take("f", &[closed("h")]));
    assert_eq!(ledger.entries().last().map(|entry| entry.number), Some(7));
}

#[test]
fn what_is_sealed_stays_as_it_was() {
    let mut ledger = Ledger::new();
    assert!(ledger.take("f", &[of("a", What::Open)]));
    assert!(ledger.take("f", &[closed("a")]));
    let before = ledger.to_bytes().unwrap();
    let Found { what, .. } = closed("other");
    let What::Closed(other) = what else {
        unreachable!()
    };
    assert!(!ledger.take("f", &[of("a", What::Abandoned(other)), of("a", What::Open)]));
    assert_eq!(ledger.to_bytes().unwrap(), before);
}

#[test]
fn an_entry_that_was_changed_or_taken_out_leaves_a_mark() {
    let mut whole = Ledger::new();
    assert!(whole.take("f", &[closed("a"), closed("b"), closed("c")]));
    let tampered = |tamper: fn(&mut Ledger)| {
        let mut ledger = Ledger::parse(&whole.to_bytes().unwrap()).unwrap();
        assert!(is_sound(&ledger));
        tamper(&mut ledger);
        ledger.breaks()
    };
    let none = Vec::<String>::new();
    assert_eq!(
        tampered(|it| drop(it.entries.remove(0))),
        (vec![2, 3], none.clone())
    );
    assert_eq!(
        tampered(|it| drop(it.entries.remove(1))),
        (vec![3], none.clone())
    );
    assert_eq!(
        tampered(|it| drop(it.entries.remove(2))),
        (vec![], vec!["f".to_owned()])
    );
    assert_eq!(
        tampered(|it| it.entries.clear()),
        (vec![], vec!["f".to_owned()])
    );
    assert_eq!(
        tampered(|it| it.folders.clear()),
        (vec![1, 2, 3], none.clone())
    );
    let changes: [fn(&mut Ledger); 4] = [
        |it| it.entries[1].sealed.as_mut().unwrap().contents.lines += 1,
        |it| {
            it.entries[1]
                .sealed
                .as_mut()
                .unwrap()
                .contents
                .digest
                .push('0')
        },
        |it| it.entries[1].sealed.as_mut().unwrap().is_abandoned = true,
        |it| it.entries[1].name.push('0'),
    ];
    for change in changes {
        assert_eq!(tampered(change), (vec![2, 3], none.clone()));
    }
}

#[test]
fn there_are_so_many_entries_at_the_most_and_those_that_left_do_not_come_back() {
    let mut ledger = Ledger::new();
    let all: Vec<_> = (1..=9).map(|it| closed(&it.to_string())).collect();
    assert!(ledger.take("f", &all));
    assert!(ledger.take("dead", &[of("0", What::Open)]));
    assert!(ledger.take("g", &[closed("1"), closed("2")]));
    ledger.bound(4);
    assert_eq!(names(&ledger), ["9", "0", "1", "2"]);
    assert!(is_sound(&ledger));
    ledger.bound(2);
    assert_eq!(names(&ledger), ["1", "2"]);
    assert!(is_sound(&ledger));
    let mut ledger = Ledger::new();
    assert!(ledger.take("f", &all));
    ledger.bound(1);
    assert!(!ledger.take("f", &all), "they have left");
    assert!(ledger.take("f", &[closed("99")]));
    assert_eq!(names(&ledger), ["9", "99"]);
    assert!(is_sound(&ledger));
}

#[test]
fn what_left_does_not_come_back_where_nothing_else_of_its_folder_is_left() {
    let mut ledger = Ledger::new();
    assert!(ledger.take("f", &[closed("a")]));
    assert!(ledger.take("g", &[closed("x"), closed("y")]));
    ledger.bound(2);
    assert_eq!(names(&ledger), ["x", "y"]);
    assert!(!ledger.take("f", &[closed("a")]), "it has left");
    assert!(is_sound(&ledger));
    assert!(ledger.take("f", &[closed("b")]));
    assert!(is_sound(&ledger));

    // Of that there is an end: what was idle the longest is forgotten.
    for folder in ["1", "2", "3"] {
        assert!(ledger.take(folder, &[closed(folder)]));
    }
    ledger.bound(0);
    assert!(ledger.folders.is_empty());
    for folder in ["1", "2", "3"] {
        assert!(ledger.take(folder, &[closed(folder), closed("4")]));
    }
    ledger.bound(1);
    let idle = ledger.folders.keys().map(String::as_str);
    assert_eq!(idle.collect::<Vec<_>>(), ["2", "3"]);
    assert!(is_sound(&ledger));
}
