use proptest::prelude::*;
use tool_permission::Pattern;

/// What a pattern means for names, in the plainest way: by trying every split.
fn reference(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        // ` *` at the end also matches nothing.
        ([' ', stars @ ..], []) if !stars.is_empty() => stars.iter().all(|char| *char == '*'),
        (['*', pattern @ ..], text) => (0..=text.len()).any(|at| reference(pattern, &text[at..])),
        (['?', pattern @ ..], [_, text @ ..]) => reference(pattern, text),
        ([char, pattern @ ..], [first, text @ ..]) => char == first && reference(pattern, text),
        _ => false,
    }
}

/// What a pattern means for paths: over segments, with `**` as any number of them.
fn reference_path(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**"], _) => true,
        (["**", pattern @ ..], path) => {
            (0..=path.len()).any(|at| reference_path(pattern, &path[at..]))
        }
        ([segment, pattern @ ..], [first, path @ ..]) => {
            let (segment, first) = (chars(segment), chars(first));
            reference_segment(&segment, &first) && reference_path(pattern, path)
        }
        _ => false,
    }
}

fn reference_segment(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        (['*', pattern @ ..], text) => {
            (0..=text.len()).any(|at| reference_segment(pattern, &text[at..]))
        }
        (['?', pattern @ ..], [_, text @ ..]) => reference_segment(pattern, text),
        ([char, pattern @ ..], [first, text @ ..]) => {
            char == first && reference_segment(pattern, text)
        }
        _ => false,
    }
}

fn chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_name_matches_as_the_reference_says(pattern in "[ab*? ]{0,8}", name in "[ab ]{0,8}") {
        let expected = reference(&chars(&pattern), &chars(&name));
        prop_assert_eq!(Pattern::new(&pattern).matches(&name), expected);
    }

    #[test]
    fn words_match_like_a_name_where_no_word_holds_a_blank(
        pattern in "[ab* ]{0,8}",
        words in prop::collection::vec("[ab]{0,3}", 1..4),
    ) {
        let expected = reference(&chars(&pattern), &chars(&words.join(" ")));
        prop_assert_eq!(Pattern::new(&pattern).matches_words(&words), expected);
    }

    #[test]
    fn a_path_matches_as_the_reference_says(
        pattern in prop::collection::vec(prop_oneof![Just("**".to_owned()), "[ab?]{0,2}\\*?[ab]{1,2}"], 1..5),
        path in prop::collection::vec("[ab]{1,3}", 1..5),
    ) {
        let mut pattern = pattern;
        pattern.dedup_by(|a, b| a == b && a == "**");
        let segments: Vec<&str> = pattern.iter().map(String::as_str).collect();
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let expected = reference_path(&segments, &names);
        prop_assert_eq!(Pattern::new(pattern.join("/")).matches_path(&path.join("/")), expected);
    }

    #[test]
    fn a_pattern_without_a_wildcard_matches_itself_alone(a in "[^*?]{0,6}", b in "[^*?]{0,6}") {
        prop_assert_eq!(Pattern::new(&a).matches(&b), a == b);
    }
}

#[track_caller]
fn words(pattern: &str, words: &[&str], expected: bool) {
    assert_eq!(
        Pattern::new(pattern).matches_words(words),
        expected,
        "{pattern} {words:?}"
    );
}

#[test]
fn a_last_blank_and_star_also_match_nothing() {
    words("ls *", &["ls"], true);
    words("ls *", &["ls", "-la"], true);
    words("ls *", &["lstmeval"], false);
    words("ls*", &["lstmeval"], true);
    assert!(Pattern::new("ls *").matches("ls"));
}

#[test]
fn a_blank_is_the_border_of_words_and_never_a_blank_in_one() {
    words("rm -rf build", &["rm", "-rf", "build"], true);
    words("rm -rf build", &["rm", "-rf build"], false);
    words("echo *", &["echo", "a b", "c"], true);
    words("echo * c", &["echo", "a b", "c"], true);
    words("echo a?b", &["echo", "a b"], true);
    words("echo a?b", &["echo", "a", "b"], false);
}

#[test]
fn everything_but_star_and_question_mark_stands_for_itself() {
    let odd = r"a.b+c[d]{e}^$(f)|\g";
    assert!(Pattern::new(odd).matches(odd));
    assert!(!Pattern::new("a.b").matches("axb"));
    assert!(!Pattern::new("[ab]").matches("a"));
    assert!(Pattern::new("caf?").matches("café"));
}

#[test]
fn a_star_in_a_path_stays_in_one_folder_and_two_do_not() {
    let path = |pattern: &str, path| Pattern::new(pattern).matches_path(path);
    assert!(path("src/*", "src/a"));
    assert!(!path("src/*", "src/a/b"));
    assert!(!path("src/?", "src//"));
    assert!(path("src/**", "src/a/b"));
    assert!(path("src/**", "src"));
    assert!(!path("src/**", "src2"));
    assert!(path("**/.env", ".env"));
    assert!(path("**/.env", "a/b/.env"));
    assert!(!path("**/.env", "a.env"));
    assert!(path("a/**/z", "a/z"));
    assert!(path("a/**/z", "a/b/c/z"));
    assert!(!path("a/**/z", "abz"));
    assert!(path("*", "a/b"));
    assert!(path("**", "a/b"));
}
