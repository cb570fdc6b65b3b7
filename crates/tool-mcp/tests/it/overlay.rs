//! What an operator can set for servers and tools.

use serde_json::{Value, json};
use tool_core::Namespace;
use tool_mcp::{Overlay, ServersConfig};

fn read(overlay: Value) -> Result<Overlay, Vec<String>> {
    let name = Namespace::new("srv").expect("a name");
    let read = Overlay::read(&name, &overlay);
    read.map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[track_caller]
fn wrong(overlay: Value, at: &str, problem: &str) {
    let expected = format!("server \"srv\", key \"overlay{at}\": {problem}");
    assert_eq!(read(overlay).expect_err("it is wrong"), [expected]);
}

#[track_caller]
fn right(overlay: Value) {
    if let Err(problems) = read(overlay.clone()) {
        panic!("{overlay}: {problems:?}");
    }
}

#[test]
fn every_key_of_a_server_and_of_a_tool_is_read() {
    right(json!({}));
    let tool = json!({
        "trust": "approve", "hints": "believed", "capabilities": ["external_net", "own"],
        "bound": {"bytes": 1, "lines": 1, "mode": "refuse"}, "concurrency": {"key": "/path"},
        "timeout": 1, "calls": {"most": 1, "per": 1, "atOnce": 1}, "rename": "b", "disabled": false,
    });
    right(
        json!({
            "trust": "first", "hints": "withheld", "capabilities": [], "bound": {"mode": "inline"},
            "concurrency": "exclusive", "timeout": {"connect": 1, "idle": 1, "total": 1},
            "calls": {"atOnce": 5}, "tools": {"a": tool, "b": null},
        }
        )
        .as_object()
        .map(|all| {
            let mut all = all.clone();
            all["tools"].as_object_mut().expect("tools").remove("b");
            Value::Object(all)
        })
        .expect("an object"),
    );
}

#[test]
fn a_key_that_is_not_known_is_refused_with_the_nearest_one() {
    wrong(
        json!({"tols": {}}),
        ".tols",
        "is not known; did you mean \"tools\"?",
    );
    wrong(
        json!({"tools": {"a": {"Disable": true}}}),
        ".tools.a.Disable",
        "is not known; did you mean \"disabled\"?",
    );
    wrong(
        json!({"timeout": {"first": 5}}),
        ".timeout.first",
        "is not known; there are connect, idle, total",
    );
    wrong(
        json!({"calls": {"rate": 5}}),
        ".calls.rate",
        "is not known; there are atOnce, most, per",
    );
    // Of a tool alone.
    wrong(
        json!({"rename": "x"}),
        ".rename",
        "is not known; there are bound, calls, capabilities, concurrency, hints, timeout, tools, trust",
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let problems = read(json!({
        "trust": "always",
        "timeout": {"connect": 0},
        "bound": {"mode": "cut"},
        "tools": {"a": {"timeout": "5"}, "b": 5, "c\u{7}": {}},
    }))
    .expect_err("it is wrong");
    let places = [
        "trust",
        "bound.mode",
        "timeout.connect",
        "tools.a.timeout",
        "tools.b",
        "tools.c",
    ];
    assert_eq!(problems.len(), places.len(), "{problems:#?}");
    for (problem, place) in problems.iter().zip(places) {
        assert!(problem.contains(&format!("\"overlay.{place}")), "{problem}");
    }
    let text = json!({"mcpServers": {
        "odd": {"args": [], "overlay": {"hints": 1, "calls": []}},
        "good": {"command": "x"},
    }});
    let config = ServersConfig::from_json(&text.to_string()).expect("one entry spoils no other");
    let problems: Vec<_> = config.problems().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "server \"odd\", key \"command\": is missing",
            "server \"odd\", key \"overlay.hints\": is none of \"shown\", \"believed\", \"withheld\"",
            "server \"odd\", key \"overlay.calls\": is no object",
        ]
    );
    assert_eq!(config.servers().count(), 1);
}

#[test]
fn a_server_whose_overlay_is_wrong_is_not_started_as_if_it_had_none() {
    let text = json!({"mcpServers": {"srv": {"command": "x", "overlay": {"tools": {"rm": {"disable": true}}}}}});
    let config = ServersConfig::from_json(&text.to_string()).expect("it is read");
    assert_eq!(config.servers().count(), 0);
}

#[test]
fn numbers_have_a_least_and_a_most() {
    let day = 86_400;
    for (at, of, most) in [
        (".timeout.connect", "timeout", day),
        (".timeout.idle", "timeout", day),
        (".timeout.total", "timeout", day),
        (".calls.atOnce", "calls", 1_024),
        (".calls.most", "calls", 10_000),
        (".bound.bytes", "bound", 1 << 30),
        (".bound.lines", "bound", 1 << 30),
    ] {
        let (_, key) = at.rsplit_once('.').expect("a key");
        let with = |number: Value| json!({of: {key: number}});
        right(with(json!(1)));
        right(with(json!(most)));
        let problem = format!("is no whole number from 1 to {most}");
        for number in [json!(0), json!(most + 1), json!(1.5), json!("1"), json!(-1)] {
            wrong(with(number), at, &problem);
        }
    }
    wrong(
        json!({"calls": {"most": 1, "per": 0}}),
        ".calls.per",
        "is no whole number from 1 to 86400",
    );
    wrong(
        json!({"calls": {"per": 5}}),
        ".calls.per",
        "is of no use without \"most\"",
    );
}

#[test]
fn what_contradicts_itself_is_refused() {
    right(json!({"tools": {"a": {"timeout": 600}}}));
    wrong(
        json!({"tools": {"a": {"timeout": 601}}}),
        ".tools.a.timeout",
        "is longer than the server's timeout.total of 600 s, which ends a call first",
    );
    right(json!({"timeout": {"total": 700}, "tools": {"a": {"timeout": 700}}}));
    wrong(
        json!({"tools": {"a": {"rename": "x"}, "b": {"rename": "x"}}}),
        ".tools.b.rename",
        "is the new name of \"a\" as well",
    );
    wrong(
        json!({"tools": {"a": {"rename": "x", "disabled": true}}}),
        ".tools.a.rename",
        "is of a tool that is disabled",
    );
    wrong(
        json!({"bound": {"mode": "inline", "bytes": 5}}),
        ".bound.bytes",
        "stands beside the mode \"inline\", which has no bound",
    );
    wrong(
        json!({"concurrency": {"key": "path"}}),
        ".concurrency.key",
        "is no JSON pointer; begin it with \"/\"",
    );
    wrong(
        json!({"concurrency": {}}),
        ".concurrency",
        "names no \"key\"",
    );
    wrong(
        json!({"capabilities": ["call"]}),
        ".capabilities.0",
        "stands for the call itself; use another word",
    );
}

#[test]
fn a_slip_of_the_pen_beside_other_clients_keys_is_told_of() {
    let text = json!({"mcpServers": {"srv": {
        "command": "x", "prefx": ["bwrap"], "bearer_env": "T", "Disabled": true, "overlays": {},
        "autoApprove": [], "timeout": 60, "type": "stdio", "name": "n", "enabled": true,
    }}});
    let config = ServersConfig::from_json(&text.to_string()).expect("it is read");
    assert_eq!(config.problems().count(), 0);
    let mut unknown: Vec<_> = config
        .unknown_keys()
        .map(|unknown| (unknown.key.as_str(), unknown.nearest))
        .collect();
    unknown.sort_unstable();
    assert_eq!(
        unknown,
        [
            ("Disabled", "disabled"),
            ("bearer_env", "bearerEnv"),
            ("overlays", "overlay"),
            ("prefx", "prefix")
        ]
    );
}
