use super::*;

fn read(args: &[&str]) -> Result<Options, String> {
    Options::from_args(args.iter().map(|arg| (*arg).to_owned()))
}

#[test]
fn everything_is_measured_and_shown_as_tables_unless_said_otherwise() {
    let options = read(&[]).unwrap();
    assert_eq!((options.task, options.only), (Task::Table, None));
}

#[test]
fn a_name_and_json_come_in_any_order() {
    for args in [["tools", "--json"], ["--json", "tools"]] {
        let options = read(&args).unwrap();
        assert_eq!(
            (options.task, options.only.as_deref()),
            (Task::Json, Some("tools"))
        );
    }
}

#[test]
fn what_is_not_known_is_refused_with_the_usage() {
    for args in [
        &["--jsno"][..],
        &["a", "b"],
        &["--rounds"],
        &["--rounds", "many"],
    ] {
        let error = read(args).unwrap_err();
        assert!(error.contains("usage: bench"), "{error}");
    }
}

#[test]
fn a_relay_takes_the_rest_of_the_line_whatever_it_looks_like() {
    let options = read(&["--relay", "server", "--json"]).unwrap();
    let command = ["server", "--json"].map(str::to_owned).to_vec();
    assert_eq!(options.task, Task::Play(Role::Relay(command)));
}
