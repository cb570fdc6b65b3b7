//! `tool policy` and `tool approvals`.

use serde_json::json;

use crate::deadline::until;
use crate::stdio_client::StdioClient;
use crate::workbench::Workbench;

const POLICY: &str = r#"version = 1

[[rule]]
effect = "allow"
action = "shell"
resource = "git *"

[[rule]]
effect = "deny"
action = "shell"
resource = "git push *"
reason = "a person pushes"
match = ["/usr/bin/git -C x push"]

[[rule]]
effect = "allow"
action = "shell"
resource = "git push origin *"
"#;

#[test]
fn check_decides_and_explain_names_the_rule_its_file_and_its_line() {
    let bench = Workbench::new();
    bench.file("policy.toml", POLICY);
    let policy = |command: &str, line: &str| {
        bench.tool(&[
            "--policy",
            "policy.toml",
            "policy",
            command,
            "shell",
            line,
            "--json",
        ])
    };
    policy("check", "git status && git log").end().succeeded();
    let denied = policy("check", "git status; env git -C . push").end();
    let denied = denied.with_code(1).json();
    assert_eq!(denied["decision"], "deny");
    assert_eq!(denied["reason"], "a person pushes");

    let explained = policy("explain", "git log && git push > out").end();
    let explained = explained.succeeded().json();
    assert_eq!(explained["decision"], "deny");
    let parts = explained["parts"].as_array().unwrap();
    let decided = parts.iter().map(|part| {
        (
            part["part"].as_str().unwrap(),
            part["decision"].as_str().unwrap(),
            part["rule"]["line"].as_u64(),
        )
    });
    let expected = [
        ("git log", "allow", Some(3)),
        ("git push", "deny", Some(8)),
        ("> out", "ask", None),
    ];
    assert_eq!(decided.collect::<Vec<_>>(), expected);
    assert_eq!(parts[0]["rule"]["file"], "policy.toml");
}

#[test]
fn lint_reports_rules_that_never_decide() {
    let bench = Workbench::new();
    let file = bench.file("policy.toml", POLICY);
    let file = file.to_str().unwrap();
    let found = bench.tool(&["policy", "lint", file, "--json"]).end();
    let found = found.with_code(1).json();
    let findings = found["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0]["kind"], "shadowed");
    assert_eq!(findings[0]["line"], 15);
    bench.tool(&["policy", "lint"]).end().succeeded();
}

#[test]
fn lint_is_silent_about_built_in_rules_which_nobody_can_change() {
    let bench = Workbench::new();
    let deny = "version = 1\n[[rule]]\neffect = \"deny\"\naction = \"read\"\nresource = \"**\"\n";
    bench.file("deny.toml", deny);
    let found = bench.tool(&["--policy", "deny.toml", "policy", "lint", "--json"]);
    let found = found.end().succeeded().json();
    assert_eq!(found["findings"], json!([]));
    // What is written again is the user's own.
    bench.file("again.toml", &deny.replace("deny", "allow"));
    let found = bench.tool(&["--policy", "again.toml", "policy", "lint", "--json"]);
    let found = found.end().with_code(1).json();
    assert_eq!(found["findings"][0]["file"], "again.toml");
}

#[test]
fn arguments_are_read_as_those_of_a_call() {
    let bench = Workbench::new();
    let rule = "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"call\"\n\
                resource = \"db/query\"\narguments = { \"/sql\" = \"SELECT *\" }\n";
    bench.file("policy.toml", rule);
    let ask = |command: &str, arguments: &str| {
        let policy = ["--policy", "policy.toml", "policy", command];
        let asked = ["call", "db/query", "--arguments", arguments];
        bench.tool(&[&policy[..], &asked].concat()).end()
    };
    ask("check", r#"{"sql":"SELECT 1"}"#).succeeded();
    ask("check", r#"{"sql":"DROP t"}"#).with_code(1);
    for command in ["check", "explain"] {
        ask(command, r#"{"sql":"SELECT 1","sql":"DROP t"}"#)
            .with_code(2)
            .says(&["--arguments", "key \"sql\" stands twice"]);
        for no_object in ["[]", "1", "\"SELECT 1\"", "{\"sql\""] {
            ask(command, no_object).with_code(2).says(&["--arguments"]);
        }
    }
}

#[test]
fn test_tries_examples_and_labelled_cases() {
    let bench = Workbench::new();
    bench.file("policy.toml", POLICY);
    let wrong = POLICY.replace("-C x push", "-C x pull");
    bench.file("wrong.toml", &wrong);
    let case = |expect: &str| {
        let rules = json!([{"effect": "deny", "action": "shell", "resource": "rm *"}]);
        json!({"id": expect, "rules": rules, "command": "ls; rm x", "expect": expect}).to_string()
    };
    let path = json!({
        "id": "link", "setup": [{"file": "out/a"}, {"symlink": "ws/l", "to": "../out"}],
        "rules": [{"effect": "allow", "action": "read", "resource": "**"}],
        "action": "read", "path": "l/a", "expect": "ask",
    });
    bench.file("right.jsonl", &format!("{}\n\n{path}\n", case("deny")));
    bench.file("wrong.jsonl", &case("allow"));
    let test = |files: &[&str]| {
        bench
            .tool(&[&["policy", "test", "--json"], files].concat())
            .end()
    };

    let passed = test(&["policy.toml", "right.jsonl"]).succeeded().json();
    assert_eq!(passed["passed"], true);
    assert_eq!(passed["cases"].as_array().unwrap().len(), 2);
    let failed = test(&["wrong.toml", "wrong.jsonl"]).with_code(1).json();
    let error = failed["errors"][0].as_str().unwrap();
    assert!(error.contains("wrong.toml:13"), "{error}");
    assert_eq!(failed["failed"], 1);
    assert_eq!(failed["cases"][0]["decision"], "deny");
    bench.file("empty.jsonl", "\n");
    test(&["empty.jsonl"])
        .with_code(2)
        .says(&["no case in", "empty.jsonl"]);
}

#[test]
fn what_is_granted_is_listed_allows_and_can_be_revoked() {
    let bench = Workbench::new();
    let approvals = |args: &[&str]| {
        let args = [&["approvals", "--json"], args].concat();
        bench.tool(&args).end()
    };
    let ran = || {
        let call = ["call", "shell", r#"{"command":"touch ran"}"#];
        bench.tool(&call).end()
    };
    ran().with_code(1);
    assert!(!bench.has("ran"));
    let granted = approvals(&["grant", "shell", "touch ran", "--for", "600"]);
    let granted = granted.succeeded().json();
    let id = granted["approvals"][0]["id"].as_str().unwrap();
    let listed = approvals(&["list"]).succeeded().json();
    assert_eq!(listed["approvals"], granted["approvals"]);
    ran().succeeded();
    approvals(&["revoke", id]).succeeded();
    ran().with_code(1);
    approvals(&["revoke", id]).with_code(2);
}

#[test]
fn what_is_granted_shows_its_end_and_what_keeps_it_from_ever_counting() {
    let bench = Workbench::new();
    bench.file("policy.toml", POLICY);
    let grant = |resource: &str| {
        let policy = ["--policy", "policy.toml", "approvals", "grant", "shell"];
        bench
            .tool(&[&policy[..], &[resource, "--for", "60"]].concat())
            .end()
    };
    let never = grant("git push origin main").succeeded();
    never.says(&["can never count", "deny shell git push *", "policy.toml:8"]);
    let counts = grant("touch ran").succeeded();
    assert!(!counts.stderr.contains("never"), "{}", counts.stderr);
    let end = counts.text();
    assert!(end.trim_end().ends_with(" UTC"), "{end}");
}

#[test]
fn a_question_of_a_gateway_is_answered_from_another_process() {
    let bench = Workbench::new();
    let mut client = StdioClient::start(bench.tool(&["serve", "--ask", "600"]));
    let arguments = json!({"command": "touch ran"});
    let call = client.send(
        "tools/call",
        json!({"name": "shell", "arguments": arguments}),
    );
    let question = until("the question is posted", || {
        let listed = bench.tool(&["approvals", "list", "--json"]).end().json();
        let question = listed["questions"].get(0)?;
        Some(question["id"].as_str().unwrap().to_owned())
    });
    assert!(!bench.has("ran"));
    let answer = |id: &str| bench.tool(&["approvals", "answer", id, "once"]).end();
    answer("ask_1").with_code(2);
    answer(&question).succeeded();
    let settled = client.answer(call, |_| {});
    assert_ne!(settled["isError"], true, "{settled}");
    assert!(bench.has("ran"));
    // An approval that is granted meanwhile answers as well.
    let arguments = json!({"command": "touch later"});
    let call = client.send(
        "tools/call",
        json!({"name": "shell", "arguments": arguments}),
    );
    bench
        .tool(&["approvals", "grant", "shell", "touch later"])
        .end()
        .succeeded();
    let settled = client.answer(call, |_| {});
    assert_ne!(settled["isError"], true, "{settled}");
    until("the question is gone", || {
        let listed = bench.tool(&["approvals", "list", "--json"]).end().json();
        listed["questions"]
            .as_array()
            .unwrap()
            .is_empty()
            .then_some(())
    });
}

#[test]
fn stop_ends_every_question_of_the_session_and_a_later_call_is_asked_about_again() {
    let bench = Workbench::new();
    let mut client = StdioClient::start(bench.tool(&["serve", "--ask", "600"]));
    let touch = |file: &str| {
        let arguments = json!({"command": format!("touch {file}")});
        json!({"name": "shell", "arguments": arguments})
    };
    let questions = |count: usize| {
        until("the questions are posted", || {
            let listed = bench.tool(&["approvals", "list", "--json"]).end().json();
            let questions = listed["questions"].as_array()?.clone();
            (questions.len() == count).then_some(questions)
        })
    };
    let first = client.send("tools/call", touch("a"));
    let question = questions(1)[0]["id"].as_str().unwrap().to_owned();
    let second = client.send("tools/call", touch("b"));
    questions(2);
    let answer = ["approvals", "answer", &question, "stop", "--note", "enough"];
    bench.tool(&answer).end().succeeded();

    let mut ended = Vec::new();
    let stopped = client.answer(first, |message| ended.push(message));
    assert_eq!(stopped["isError"], true, "{stopped}");
    let says = "the user declined this call and stopped: enough";
    assert_eq!(stopped["content"][0]["text"], says);
    let other = ended.into_iter().find(|message| message["id"] == second);
    let other = other.map_or_else(
        || client.answer(second, |_| {}),
        |message| message["result"].clone(),
    );
    let says = "the user declined this call and stopped";
    assert_eq!(other["content"][0]["text"], says, "{other}");
    questions(0);

    let later = client.send("tools/call", touch("c"));
    let question = questions(1)[0]["id"].as_str().unwrap().to_owned();
    let answer = ["approvals", "answer", &question, "once"];
    bench.tool(&answer).end().succeeded();
    let settled = client.answer(later, |_| {});
    assert_ne!(settled["isError"], true, "{settled}");
    assert_eq!(
        ["a", "b", "c"].map(|file| bench.has(file)),
        [false, false, true]
    );
}

#[test]
fn an_error_is_one_json_object_where_json_is_asked_for() {
    let bench = Workbench::new();
    bench.file("bad.toml", "version = 1\nrules = 3\n");
    for (args, says) in [
        (&["approvals", "revoke", "ap_0"][..], "there is no approval"),
        (&["approvals", "answer", "x.ask_1", "once"], "no question"),
        (
            &["approvals", "grant", "call", "x", "--call", "c1"],
            "tool approvals answer ID once",
        ),
        (&["policy", "lint", "none.toml"], "none.toml"),
        (&["policy", "lint", "bad.toml"], "bad.toml"),
        (&["policy", "test", "none.jsonl"], "none.jsonl"),
    ] {
        let ended = bench.tool(&[args, &["--json"]].concat()).end().with_code(2);
        let error: serde_json::Value = serde_json::from_str(&ended.stderr).unwrap();
        assert!(error["error"].is_string(), "{args:?}: {error}");
        assert!(ended.stderr.contains(says), "{args:?}: {error}");
        assert!(error["causes"].is_array(), "{args:?}: {error}");
        let plain = bench.tool(args).end().with_code(2);
        assert!(
            plain.stderr.starts_with("error: "),
            "{args:?}: {}",
            plain.stderr
        );
    }
}

#[test]
fn the_help_of_grant_says_how_one_call_is_approved() {
    let help = Workbench::new()
        .tool(&["approvals", "grant", "--help"])
        .end()
        .succeeded();
    assert!(
        help.text().contains("tool approvals answer ID once"),
        "{}",
        help.text()
    );
    assert!(!help.text().contains("--call"));
}

#[test]
fn writing_a_file_that_runs_code_later_is_asked_whatever_is_allowed() {
    let bench = Workbench::new();
    let rules = ["read", "write", "external"].map(|action| {
        format!("[[rule]]\neffect = \"allow\"\naction = \"{action}\"\nresource = \"**\"\n")
    });
    let shell = "[[rule]]\neffect = \"allow\"\naction = \"shell\"\nresource = \"*\"\n";
    let text = format!("version = 1\n{}{shell}", rules.concat());
    bench.file("allow.toml", &text);
    let check = |action: &str, resource: &str, code: i32| {
        let args = [
            "--policy",
            "allow.toml",
            "policy",
            "check",
            action,
            resource,
        ];
        bench.tool(&args).end().with_code(code);
    };
    let grant = ["approvals", "grant", "write", "**"];
    bench.tool(&grant).end().succeeded();
    for file in [
        ".git/config",
        ".git/hooks/pre-commit",
        "sub/.git/hooks/post-checkout",
        "/srv/x/.bashrc",
        "/home/x/.profile",
        "/home/x/.ssh/authorized_keys",
        "/etc/cron.d/x",
        "/var/spool/cron/x",
        ".husky/pre-push",
        ".cargo/config.toml",
        "tool.toml",
    ] {
        check("write", file, 1);
        check("shell", &format!("echo x > {file}"), 1);
    }
    for file in [
        "src/main.rs",
        ".gitignore",
        ".github/workflows/ci.yml",
        "git/config",
    ] {
        check("write", file, 0);
        check("shell", &format!("echo x > {file}"), 0);
    }
}
