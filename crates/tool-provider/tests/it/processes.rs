//! The same bytes in every process.

use std::fmt::Write as _;
use std::process::Command;

use tool_provider::Profile;

use crate::superset;

/// What every profile sends of tools that show each pass at work.
fn bytes() -> String {
    let tools = superset::tools();
    let mut all = String::new();
    for profile in Profile::ALL {
        let list = profile.tools(&tools);
        let losses = serde_json::to_string(&list.losses()).expect("JSON");
        write!(all, "{}{losses}", list.as_json()).expect("text");
    }
    all
}

#[test]
fn two_other_processes_send_the_same_bytes() {
    const TEST: &str = "processes::two_other_processes_send_the_same_bytes";
    const CHILD: &str = "TOOL_PROVIDER_TEST_CHILD";
    const MARK: &str = "sent:";
    let here = bytes();
    if std::env::var_os(CHILD).is_some() {
        println!("\n{MARK}{here}");
        return;
    }
    // Each process seeds its hash tables anew.
    for _ in 0..2 {
        let this = std::env::current_exe().expect("this program");
        let child = Command::new(this)
            .args(["--exact", TEST, "--nocapture"])
            .env(CHILD, "1")
            .output()
            .expect("it runs");
        let said = String::from_utf8(child.stdout).expect("text");
        let there: Vec<_> = said
            .lines()
            .filter_map(|line| line.strip_prefix(MARK))
            .collect();
        assert_eq!(there, [here.as_str()]);
    }
}
