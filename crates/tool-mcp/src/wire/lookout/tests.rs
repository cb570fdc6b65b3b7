//! When an answer is looked for, by a clock that stands until it is moved.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::{FEW, Lookout, MANY, WINDOW};

thread_local! {
    static MICROS: Cell<u64> = const { Cell::new(0) };
}

/// The clock of the thread of a test.
pub(crate) fn clock() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = *START.get_or_init(Instant::now);
    start + Duration::from_micros(MICROS.get())
}

/// Moves it on.
pub(crate) fn pass(micros: u64) {
    MICROS.set(MICROS.get() + micros);
}

/// Sends something that is answered after so long.
fn answered_after(lookout: &Lookout, micros: u64) {
    lookout.sent();
    pass(micros);
    lookout.came();
}

/// One that looks for the next answer.
pub(crate) fn looking() -> Lookout {
    let lookout = Lookout::by(clock);
    for _ in 0..FEW {
        answered_after(&lookout, 40);
    }
    lookout
}

/// Looks in vain, once it has seen enough; how many answers that took.
fn look_in_vain(lookout: &Lookout) -> u32 {
    let mut answers = 0;
    loop {
        lookout.sent();
        if lookout.looks() {
            break;
        }
        answers += 1;
        pass(40);
        lookout.came();
    }
    pass(51);
    assert!(!lookout.looks());
    lookout.came();
    answers
}

#[test]
fn an_answer_is_looked_for_within_the_window_and_slept_for_after_it() {
    let lookout = looking();
    assert!(!lookout.looks(), "nothing is waited for");
    lookout.sent();
    assert!(lookout.looks());
    pass(49);
    assert!(lookout.looks());
    pass(1);
    assert_eq!(WINDOW, Duration::from_micros(50));
    assert!(!lookout.looks());
    assert!(!lookout.looks(), "that holds for this answer");
}

#[test]
fn what_has_come_is_not_looked_for() {
    let lookout = looking();
    lookout.sent();
    assert!(lookout.looks());
    pass(10);
    lookout.came();
    assert!(!lookout.looks());
    lookout.sent();
    assert!(lookout.looks(), "and the next one is");
}

#[test]
fn nothing_is_looked_for_before_a_few_answers_were_worth_it() {
    let lookout = Lookout::by(clock);
    for _ in 0..FEW {
        lookout.sent();
        assert!(!lookout.looks());
        pass(40);
        lookout.came();
    }
    lookout.sent();
    assert!(lookout.looks());
}

#[test]
fn answers_that_come_at_once_or_late_are_slept_for() {
    for micros in [1, 16, 91, 5_000_000] {
        let lookout = Lookout::by(clock);
        for _ in 0..100 {
            answered_after(&lookout, micros);
        }
        lookout.sent();
        assert!(!lookout.looks(), "after {micros} us");
    }
    // One of them among the others is enough.
    let lookout = Lookout::by(clock);
    for _ in 0..100 {
        answered_after(&lookout, 40);
        answered_after(&lookout, 40);
        answered_after(&lookout, 2000);
        lookout.sent();
        assert!(!lookout.looks());
    }
}

#[test]
fn nothing_is_looked_for_while_several_answers_are_waited_for() {
    let lookout = looking();
    lookout.sent();
    assert!(lookout.looks() && !lookout.is_crowded());
    lookout.crowd();
    assert!(!lookout.looks() && lookout.is_crowded());
    lookout.came();
    assert!(!lookout.looks());
    lookout.sent();
    assert!(lookout.looks() && !lookout.is_crowded());
}

#[test]
fn a_look_in_vain_doubles_what_the_next_one_takes_up_to_a_bound() {
    let lookout = Lookout::by(clock);
    let mut enough = FEW;
    while enough < MANY {
        assert_eq!(look_in_vain(&lookout), enough);
        enough *= 2;
    }
    assert_eq!(look_in_vain(&lookout), MANY);
    assert_eq!(look_in_vain(&lookout), MANY);
}

#[test]
fn a_look_that_finds_something_halves_it_again() {
    let lookout = Lookout::by(clock);
    for _ in 0..3 {
        look_in_vain(&lookout);
    }
    for _ in 0..8 * FEW {
        answered_after(&lookout, 40);
    }
    lookout.sent();
    assert!(lookout.looks());
    pass(20);
    lookout.came();
    lookout.sent();
    pass(51);
    assert!(!lookout.looks(), "in vain");
    assert_eq!(look_in_vain(&lookout), 8 * FEW, "half of it, doubled");
}
