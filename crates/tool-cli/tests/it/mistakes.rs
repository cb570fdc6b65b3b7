//! Mistakes on the command line and in files: status 2, the place, and the way out.

use crate::workbench::Workbench;

#[test]
fn a_mistake_on_the_command_line_ends_with_2_and_says_what_fits() {
    let bench = Workbench::new();
    let cases: [(&[&str], &[&str]); 11] = [
        (&[], &["Usage: tool", "Commands:"]),
        (&["lst"], &["unrecognized subcommand 'lst'", "'list'"]),
        (&["list", "--jsn"], &["'--jsn'", "'--json'"]),
        (&["call"], &["<NAME>", "Usage: tool call"]),
        (
            &["call", "grep", "{}", "{}"],
            &["unexpected argument", "Usage: tool call"],
        ),
        (
            &["call", "grep", "--timeout", "0"],
            &["--timeout <SECONDS>", "1.."],
        ),
        (
            &["serve", "--http", "8808x"],
            &["write an address with a port, such as 127.0.0.1:8808"],
        ),
        (
            &["serve", "--http", "0.0.0.0:0"],
            &["can be reached from other machines", "--allow-remote"],
        ),
        (&["serve", "--allow-remote"], &["--http <ADDRESS>"]),
        (
            &["output", "read", "x", "--all", "--bytes", "1"],
            &["'--all' cannot be used with '--bytes"],
        ),
        (&["completions", "tcsh"], &["possible values: bash", "zsh"]),
    ];
    for (args, wanted) in cases {
        let ended = bench.bare(args).end().with_code(2);
        assert!(ended.stdout.is_empty(), "{args:?}: {ended:?}");
        ended.says(wanted);
    }
}

#[test]
fn what_is_not_there_ends_with_2_and_is_named() {
    let bench = Workbench::new();
    bench.file("file", "no folder");
    let cases: [(&[&str], &[&str]); 8] = [
        (
            &["list", "--policy", "absent.toml"],
            &["absent.toml", "correct its path", "No such file"],
        ),
        (
            &["list", "--config", "absent.toml"],
            &["settings absent.toml could not be read"],
        ),
        (
            &["list", "--mcp-config", "absent.json"],
            &["servers absent.json could not be read"],
        ),
        (
            &["list", "--root", "absent"],
            &["workspace absent could not be opened"],
        ),
        (
            &["list", "--root", "file"],
            &["workspace file could not be opened", "Not a directory"],
        ),
        (
            &["list", "--state", "file"],
            &["output store file could not be opened"],
        ),
        (
            &["call", "grep", "@absent.json"],
            &["could not read absent.json"],
        ),
        (
            &["output", "read", "out_absent"],
            &["there is no output \"out_absent\"", "tool output list"],
        ),
    ];
    for (args, wanted) in cases {
        // Said twice, the later state would win; so it is said once.
        let state: &[&str] = if args.contains(&"--state") {
            &[]
        } else {
            &["--state", "state"]
        };
        let ended = bench.bare(&[args, state].concat()).end().with_code(2);
        assert!(ended.stdout.is_empty(), "{args:?}: {ended:?}");
        ended.says(&["error: "]).says(wanted);
    }
}

#[test]
fn a_mistake_in_a_policy_names_file_line_and_way_out() {
    let rule = |text: &str| format!("version = 1\n\n[[rule]]\n{text}\n");
    let cases = [
        (
            rule("effect = \"alow\"\naction = \"shell\"\nresource = \"*\""),
            "p.toml:4",
            "write \"allow\", \"ask\" or \"deny\"",
        ),
        (
            rule("efect = \"allow\""),
            "p.toml:4",
            "its keys are effect, action",
        ),
        (
            rule("effect = \"allow\"\naction = \"shell\""),
            "p.toml:3",
            "has no `resource`; add it",
        ),
        (
            rule("effect = \"allow\"\naction = 7\nresource = \"*\""),
            "p.toml:5",
            "a text in quotes",
        ),
        (
            rule("effect = \"allow\"\naction = \"read\"\nresource = \"../*\""),
            "p.toml:3",
            "write where it leads",
        ),
        (
            "[[rule]]\n".to_owned(),
            "p.toml",
            "write `version = 1` as its first line",
        ),
        (
            "version = 9\n".to_owned(),
            "p.toml:1",
            "write `version = 1`",
        ),
        (
            "version = 1\n[[rule\n".to_owned(),
            "p.toml:2",
            "complete or correct it",
        ),
        (
            "version = 1\n[bound]\nbytes = 1\n".to_owned(),
            "p.toml:2",
            "its keys are version, rule",
        ),
    ];
    for (text, place, way_out) in cases {
        let bench = Workbench::new();
        bench.file("p.toml", &text);
        let call = [
            "call",
            "shell",
            r#"{"command":"touch ran"}"#,
            "--policy",
            "p.toml",
        ];
        bench
            .open(&call)
            .end()
            .with_code(2)
            .says(&["error: ", place, way_out]);
        assert!(
            !bench.has("ran"),
            "nothing runs under a broken policy: {text}"
        );
    }
}

#[test]
fn a_mistake_in_tool_toml_names_file_line_and_way_out() {
    let cases = [
        (
            "[bound]\nbytes = 1\n",
            "tool.toml",
            "write `version = 1` as its first line",
        ),
        (
            "version = 1\n[bund]\nbytes = 1\n",
            "tool.toml:2",
            "its keys are version, rule, policy, bound",
        ),
        (
            "version = 1\n[bound]\nbyte = 1\n",
            "tool.toml:3",
            "expected `bytes` or `lines`",
        ),
        (
            "version = 1\n[bound]\nbytes = 0\n",
            "tool.toml:3",
            "a whole number from 1 on",
        ),
        (
            "version = 1\n\n[bound]\nlines = \"many\"\n",
            "tool.toml:4",
            "without quotes",
        ),
        (
            "version = 1\n[state]\ndays = -1\n",
            "tool.toml:3",
            "a whole number from 1 on",
        ),
        (
            "version = 1\n[state]\noutput_bytes = 0\n",
            "tool.toml:3",
            "a whole number from 1 on",
        ),
        (
            "version = 1\npolicy = [\n  \"absent.toml\",\n]\n",
            "tool.toml:3",
            "absent.toml: the policy file cannot be read; correct its path",
        ),
        (
            "version = 1\n[[rule]]\neffect = \"deny\"\naction = \"shell\"\n",
            "tool.toml:2",
            "has no `resource`; add it",
        ),
        (
            "version = 1\n[state\n",
            "tool.toml:2",
            "complete or correct it",
        ),
    ];
    for (text, place, way_out) in cases {
        let bench = Workbench::new();
        bench.file("tool.toml", text);
        let named = ["--config", "tool.toml"];
        bench
            .tool(&["list"])
            .args(named)
            .end()
            .with_code(2)
            .says(&["error: ", place, way_out]);
        bench
            .tool(&["output", "list"])
            .args(named)
            .end()
            .with_code(2)
            .says(&[place, way_out]);
    }
}

#[test]
fn a_file_of_servers_that_is_none_names_what_is_wrong() {
    let cases = [
        ("{\"mcpServers\": {\n", "line 2"),
        ("{\"servers\": {}}", "no object \"mcpServers\""),
        ("{\"mcpServers\": []}", "no object \"mcpServers\""),
    ];
    for (text, wanted) in cases {
        let bench = Workbench::new();
        bench.file("mcp.json", text);
        let ended = bench
            .tool(&["list", "--mcp-config", "mcp.json"])
            .end()
            .with_code(2);
        ended.says(&["servers mcp.json are not of the mcpServers format", wanted]);
    }
}

#[test]
fn a_server_that_is_wrong_fails_for_itself() {
    let bench = Workbench::new();
    bench.file(
        "mcp.json",
        r#"{"mcpServers": {
            "typed": {"command": 7},
            "twice": {"command": 7, "args": "x"},
            "missing": {"args": []},
            "absent": {"command": "tool-test-no-such-command"},
            "lines": {"command": "no\nserver off: ready"},
            "leaves": {"command": "true"},
            "off": {"command": "tool-test-no-such-command", "disabled": true},
            "remote": {"url": "http://127.0.0.1:9/mcp"}
        }}"#,
    );
    let listed = bench
        .tool(&["list", "--mcp-config", "mcp.json"])
        .end()
        .succeeded();
    assert!(
        listed.text().contains("grep "),
        "the built-in tools are there: {listed:?}"
    );
    let listed = listed.says(&[
        "server typed: failed: key \"command\": is no string\n",
        // A line for each, as doctor has.
        "server twice: failed:\n         key \"command\": is no string\n         key \"args\": is no array\n",
        "server missing: failed: key \"command\": is missing\n",
        "server absent: failed: could not be started: there is no command \"tool-test-no-such-command\"\n",
        // What a server brings begins no line.
        "server lines: failed: could not be started: there is no command \"no\\nserver off: ready\"\n",
        "server leaves: away: ",
        "server off: disabled\n",
        "server remote: away: ",
    ]);
    let told = listed.stderr.lines();
    assert_eq!(
        told.filter(|line| !line.contains(" is new, and trusted as it is: "))
            .count(),
        10,
        "each is told once: {}",
        listed.stderr
    );
    let call = bench.tool(&[
        "call",
        "glob",
        r#"{"pattern":"*"}"#,
        "--mcp-config",
        "mcp.json",
    ]);
    call.end().succeeded();
}
