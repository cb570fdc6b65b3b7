use super::{Doubt, Pattern};
use crate::subject::Subject;

#[track_caller]
fn steps_are_linear(pattern: &str, subject: &Subject, expected: bool) {
    let pattern = Pattern::new(pattern);
    let (matched, steps) = pattern.run(subject, Doubt::Certain);
    assert_eq!(matched, expected);
    assert!(steps <= (pattern.tokens.len() + 1) * subject.symbols().count());
}

#[test]
fn the_steps_are_bounded_by_pattern_times_input() {
    let many = "a".repeat(100_000);
    let deep = "a/".repeat(50_000);
    steps_are_linear("*a*a*a*b", &Subject::name(&many), false);
    steps_are_linear("*a*a*a*a", &Subject::name(&many), true);
    steps_are_linear("**a**a**a**b", &Subject::path(&many), false);
    steps_are_linear("**/a/**/a/**/*a*/b", &Subject::path(&deep), false);
    steps_are_linear(
        "a ? * a",
        &Subject::words(std::iter::repeat_n("a", 50_000)),
        true,
    );
}

/// The words of a command; `$` stands for an unknown part, and alone for an unquoted one.
fn command(line: &str) -> Subject {
    let mut subject = Subject::no_words();
    for (at, word) in line.split(' ').enumerate() {
        match (at, word) {
            (0, _) => {}
            (_, "$") => subject.push_loose_border(),
            _ => subject.push_border(),
        }
        for (at, text) in word.split('$').enumerate() {
            if at > 0 {
                subject.push_unknown();
            }
            subject.push_text(text);
        }
    }
    subject
}

#[track_caller]
fn doubt(pattern: &str, line: &str, certain: bool, possible: bool) {
    let (pattern, command) = (Pattern::new(pattern), command(line));
    assert_eq!(pattern.covers(&command), certain, "certainly");
    assert_eq!(pattern.may_match(&command), possible, "possibly");
}

#[test]
fn an_unknown_part_is_covered_by_a_star_only_and_possible_for_anything() {
    doubt("echo *", "echo $", true, true);
    doubt("echo ?", "echo $", false, true);
    doubt("rm -rf *", "rm $ build", false, true);
    doubt("rm *", "rm $ build", true, true);
    doubt("rm *", "ls $", false, false);
    doubt("git push --force *", "git push --$", false, true);
    doubt("git push --force *", "git push --q$", false, false);
    doubt("* --force", "git push $", false, true);
    doubt("*", "$", true, true);
}

#[test]
fn an_unquoted_unknown_word_may_be_none() {
    doubt("git", "git $", false, true);
    doubt("git status", "git $ status", false, true);
}

#[test]
fn every_match_starts_with_the_head_and_ends_with_the_tail() {
    use crate::subject::Dialect;

    for (pattern, head, tail) in [
        ("ls *", "ls", ""),
        ("ls", "ls", "ls"),
        ("* x", "", " x"),
        ("a?c", "a", "c"),
    ] {
        let pattern = Pattern::new(pattern);
        let mut end: Vec<char> = pattern.tail(Dialect::Name).collect();
        end.reverse();
        assert_eq!(pattern.head(Dialect::Name).collect::<String>(), head);
        assert_eq!(end.into_iter().collect::<String>(), tail);
    }
    let nested = Pattern::new("**/a");
    assert_eq!(nested.tail(Dialect::Path).collect::<String>(), "a");
    assert_eq!(nested.tail(Dialect::Name).collect::<String>(), "a/");
    assert_eq!(
        Pattern::new("src/**")
            .head(Dialect::Path)
            .collect::<String>(),
        "src"
    );
}
