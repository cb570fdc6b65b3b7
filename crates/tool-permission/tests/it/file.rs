use std::error::Error;
use std::fs;

use tool_core::Decision;
use tool_permission::{Effect, Layer, LoadErrorKind, RulePolicy};

use crate::decision;

const WHOLE: &str = r#"# the rules of this project
version = 1

[[rule]]
effect = "allow"
action = "read"
resource = "**"

[[rule]]
effect = "deny"
action = "read"
resource = "**/.env"
reason = "secrets stay where they are"
source = "notes"
agent = "build"
match = [".env", "a/b/.env"]
not_match = [".envrc"]

[[rule]]
effect = "ask"
action = "shell"
resource = "git push *"
sticky = true
match = ["git push", "git push origin main"]
not_match = ["git push-all"]
"#;

#[track_caller]
fn refused(text: &str, kind: LoadErrorKind, line: Option<usize>, says: &[&str]) {
    let error = Layer::parse("policy.toml", text).unwrap_err();
    let shown = error.to_string();
    assert_eq!(error.kind(), kind, "{shown}");
    assert_eq!(error.line_number(), line, "{shown}");
    let start = line.map_or("policy.toml: ".to_owned(), |line| {
        format!("policy.toml:{line}: ")
    });
    assert!(shown.starts_with(&start), "{shown}");
    for part in says {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn every_key_of_a_rule_is_read() {
    let layer = Layer::parse("policy.toml", WHOLE).unwrap();
    let effects: Vec<_> = layer.rules().iter().map(|rule| rule.effect()).collect();
    assert_eq!(effects, [Effect::Allow, Effect::Deny, Effect::Ask]);
    assert_eq!(layer.rules()[2].action(), "shell");
    assert_eq!(layer.rules()[2].resource().as_str(), "git push *");
    assert_eq!(layer.name(), "policy.toml");
}

#[test]
fn a_file_without_a_rule_asks_about_everything() {
    let layer = Layer::parse("policy.toml", "version = 1\n").unwrap();
    assert_eq!(
        decision(&RulePolicy::new([layer]), "read", ["a"]),
        Decision::Ask
    );
}

#[test]
fn an_unknown_key_names_itself_and_the_known_ones() {
    let rule = "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"read\"\nresorce = \"**\"\n";
    refused(
        rule,
        LoadErrorKind::Key,
        Some(5),
        &["no key `resorce`", "resource"],
    );
    let file = "version = 1\nrules = []\n";
    refused(
        file,
        LoadErrorKind::Key,
        Some(2),
        &["no key `rules`", "version, rule"],
    );
}

#[test]
fn a_missing_key_names_itself_at_its_rule() {
    let text = "version = 1\n\n[[rule]]\neffect = \"allow\"\nresource = \"**\"\n";
    refused(
        text,
        LoadErrorKind::Key,
        Some(3),
        &["no `action`", "add it"],
    );
}

#[test]
fn a_bad_value_names_its_key_and_the_way_out() {
    let with = |line: &str| {
        let mut text = "version = 1\n[[rule]]\n".to_owned();
        for key in ["effect = \"ask\"", "action = \"read\"", "resource = \"a\""] {
            let same = key.split(' ').next() == line.split(' ').next();
            text.push_str(if same { line } else { key });
            text.push('\n');
        }
        if !text.contains(line) {
            text.push_str(line);
        }
        text
    };
    for (line, at, says) in [
        ("effect = \"permit\"", 3, "\"allow\", \"ask\" or \"deny\""),
        ("effect = 1", 3, "`effect` is of type integer"),
        ("action = \"\"", 4, "`action` is blank"),
        ("action = \"rea?\"", 2, "one word"),
        ("resource = [\"a\"]", 5, "`resource` is of type array"),
        ("resource = \"../a\"", 2, "write where it leads"),
        ("sticky = \"yes\"", 6, "true or false"),
        ("match = \"a\"", 6, "a list of texts"),
        ("not_match = [1]", 6, "`not_match` is of type integer"),
    ] {
        refused(&with(line), LoadErrorKind::Value, Some(at), &[says]);
    }
    refused(
        "version = 1\nrule = 3\n",
        LoadErrorKind::Value,
        Some(2),
        &["[[rule]]"],
    );
}

#[test]
fn a_version_is_required_and_looked_at_first() {
    refused("", LoadErrorKind::Version, None, &["write `version = 1`"]);
    refused(
        "[[rule]]\n",
        LoadErrorKind::Version,
        None,
        &["write `version = 1`"],
    );
    let later = "version = 2\nnew_key = 1\n";
    refused(
        later,
        LoadErrorKind::Version,
        Some(1),
        &["version 2 is not known"],
    );
    refused(
        "version = \"1\"\n",
        LoadErrorKind::Version,
        Some(1),
        &["of type string"],
    );
}

#[test]
fn a_failing_example_names_itself() {
    let text = WHOLE.replace("\"a/b/.env\"", "\"a/b/.envrc\"");
    let says = ["**/.env", "does not match", "\"a/b/.envrc\"", "`match`"];
    refused(&text, LoadErrorKind::Example, Some(16), &says);
    let text = WHOLE.replace("\"git push-all\"", "\"git push\"");
    refused(
        &text,
        LoadErrorKind::Example,
        Some(25),
        &["matches", "`not_match`"],
    );
}

#[test]
fn an_example_of_a_shell_rule_is_read_as_the_shell_reads_it() {
    let with = |examples: &str| {
        let rule = "version = 1\n[[rule]]\neffect = \"deny\"\naction = \"shell\"\nresource = \"rm -rf *\"\n";
        Layer::parse("policy.toml", &format!("{rule}{examples}\n"))
    };
    with(r#"match = ["ls && rm -rf build", "echo $(rm  '-rf' x)", "rm -rf $DIR"]"#).unwrap();
    with(r#"not_match = ["echo 'rm -rf x'", "rm '-rf x'", "rm $FLAGS x"]"#).unwrap();
    assert!(with(r#"match = ["echo 'rm -rf x'"]"#).is_err());
}

#[test]
fn two_values_for_a_key_are_refused() {
    let text = "version = 1\n[[rule]]\neffect = \"deny\"\neffect = \"allow\"\n";
    refused(text, LoadErrorKind::Syntax, Some(4), &["duplicate key"]);
}

#[test]
fn an_error_does_not_repeat_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let error = Layer::load(folder.path().join("absent.toml")).unwrap_err();
    assert_eq!(error.kind(), LoadErrorKind::Unreadable);
    assert!(error.to_string().contains("absent.toml"));
    let cause = error.source().unwrap().to_string();
    assert!(!error.to_string().contains(&cause));
}

#[test]
fn a_file_is_named_as_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    fs::write(&path, WHOLE).unwrap();
    let layer = Layer::load(&path).unwrap();
    assert_eq!(layer.name(), path.display().to_string());
    assert_eq!(layer.rules().len(), 3);
}
