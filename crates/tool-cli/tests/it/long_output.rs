//! Output of any size: a preview within the bound, and the whole of it page by page.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::deadline::until;
use crate::http_client::HttpClient;
#[cfg(target_os = "linux")]
use crate::killed::processes;
use crate::serving::Serving;
use crate::stdio_client::StdioClient;
use crate::workbench::Workbench;

const BOUND_BYTES: usize = 51_200;
const BOUND_LINES: usize = 2_000;

/// Prints 5 MB in some 700,000 lines.
const LINES: &str = "seq 1 730000";

fn lines() -> String {
    (1..=730_000).fold(String::new(), |mut text, number| {
        writeln!(text, "{number}").unwrap();
        text
    })
}

/// Prints 5 MB in one line of characters that are two bytes long.
const ONE_LINE: &str = "yes é | head -n 2500000 | tr -d '\\n'";

fn one_line() -> String {
    "é".repeat(2_500_000)
}

#[test]
fn five_megabytes_in_lines_come_back_as_a_preview_and_whole() {
    comes_back(LINES, &lines());
}

#[test]
fn five_megabytes_in_one_line_come_back_as_a_preview_and_whole() {
    comes_back(ONE_LINE, &one_line());
}

#[test]
fn a_client_reads_five_megabytes_page_by_page() {
    let printed = lines();
    let bench = Workbench::new();
    let mut client = StdioClient::start(bench.open(&["serve"]));
    let result = client.call("shell", json!({"command": LINES}));
    assert_eq!(result["isError"], false, "{}", result["_meta"]);
    let id = check_preview(&result["content"], &printed);

    let mut read = String::new();
    let mut next = Some(0);
    while let Some(offset) = next {
        let page = client.call("read_output", json!({"id": id, "offset": offset}));
        assert_eq!(page["isError"], false, "{page}");
        let text = page["content"][0]["text"].as_str().unwrap();
        assert!(text.len() <= BOUND_BYTES, "{} bytes in a page", text.len());
        read.push_str(text);
        next = page["structuredContent"]["next"].as_u64();
    }
    assert!(
        read == printed,
        "{} bytes are not the {} printed",
        read.len(),
        printed.len()
    );

    // What one session made is no other's to read.
    let mut other = StdioClient::start(bench.open(&["serve"]));
    let refused = other.call("read_output", json!({"id": id}));
    assert_eq!(refused["isError"], true, "{refused}");
}

#[test]
fn a_person_is_told_how_to_read_on() {
    let bench = Workbench::new();
    let command = json!({"command": LINES}).to_string();
    let ended = bench.open(&["call", "shell", &command]).end().succeeded();
    let listed = bench.tool(&["output", "list", "--json"]).end().json();
    let id = listed["outputs"][0]["id"].as_str().unwrap();
    let ended = ended.says(&[&format!("output read {id} --all")]);
    assert!(ended.text().starts_with("1\n2\n3\n"));
    assert!(ended.text().ends_with("729999\n730000\n"));

    let first = bench.tool(&["output", "read", id]).end().succeeded();
    assert!(
        lines().starts_with(first.text()),
        "the first page is the beginning"
    );
    let go_on = format!("go on with --offset {}", first.stdout.len());
    first.says(&[&go_on, "--all"]);
    let few = bench
        .tool(&["output", "read", id, "--offset", "2", "--bytes", "5"])
        .end();
    assert_eq!(few.succeeded().text(), "2\n3\n4");
}

#[track_caller]
fn comes_back(command: &str, printed: &str) {
    assert!(
        (4_900_000..5_100_000).contains(&printed.len()),
        "{}",
        printed.len()
    );
    let bench = Workbench::new();
    let settled = bench.call("shell", &json!({"command": command}));
    assert_eq!(settled["outcome"], "completed", "{}", settled["reason"]);
    assert_eq!(settled["structured"]["bytes"], printed.len());
    let id = check_preview(&settled["content"], printed);
    assert_eq!(settled["retained"][0]["id"], *id);
    assert_eq!(settled["retained"][0]["bytes"], printed.len());

    let all = bench
        .tool(&["output", "read", &id, "--all"])
        .end()
        .succeeded();
    assert!(
        all.stdout == printed.as_bytes(),
        "{} bytes",
        all.stdout.len()
    );
    let all = bench
        .tool(&["output", "read", &id, "--all", "--json"])
        .end()
        .json();
    assert!(all["text"] == *printed, "the text in JSON is the whole");

    // Larger pages than the usual make fewer processes.
    let mut pages = String::new();
    let mut next = Some(0);
    while let Some(offset) = next {
        let offset = offset.to_string();
        let page = [
            "output", "read", &id, "--offset", &offset, "--bytes", "300001", "--json",
        ];
        let page = bench.tool(&page).end().succeeded().json();
        assert_eq!(page["total"], printed.len());
        let text = page["text"].as_str().unwrap();
        assert!(text.len() <= 300_001);
        pages.push_str(text);
        next = page["next"].as_u64();
    }
    assert!(pages == printed, "{} bytes of pages", pages.len());
}

/// Checks what is shown in place of the whole, and gives the id under which that is kept.
#[track_caller]
fn check_preview(content: &Value, printed: &str) -> String {
    let texts: Vec<_> = content
        .as_array()
        .unwrap()
        .iter()
        // Beside the texts stands a link to the whole.
        .filter(|block| block["type"] != "resource_link")
        .map(|block| block["text"].as_str().unwrap())
        .collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let lines: usize = texts.iter().map(|text| text.lines().count()).sum();
    assert!(bytes <= BOUND_BYTES, "{bytes} bytes are shown");
    assert!(lines <= BOUND_LINES, "{lines} lines are shown");

    let [head, marker, tail] = texts[..] else {
        panic!("head, marker and tail, {} blocks", texts.len());
    };
    assert!(
        !head.is_empty() && printed.starts_with(head),
        "the head is the beginning"
    );
    assert!(
        !tail.is_empty() && printed.ends_with(tail),
        "the tail is the end"
    );
    let left_out = format!(
        "left out {} bytes of {} and",
        printed.len() - head.len() - tail.len(),
        printed.len()
    );
    assert!(
        marker.contains(&left_out),
        "\"{left_out}\" is missing in \"{marker}\""
    );
    let (_, rest) = marker.split_once("kept as ").unwrap();
    let id: String = rest
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    id
}

#[test]
fn a_person_reads_lines_searches_and_removes() {
    let bench = Workbench::new();
    let command = json!({"command": LINES}).to_string();
    bench.open(&["call", "shell", &command]).end().succeeded();
    let listed = bench.tool(&["output", "list", "--json"]).end().json();
    let id = listed["outputs"][0]["id"].as_str().unwrap();

    let read = bench
        .tool(&["output", "read", id, "--lines", "4000..4002"])
        .end();
    assert_eq!(read.succeeded().text(), "4000\n4001\n4002\n");
    let read = bench
        .tool(&["output", "read", id, "--lines", "729999.."])
        .end();
    assert_eq!(read.succeeded().text(), "729999\n730000\n");
    let read = bench
        .tool(&["output", "read", id, "--lines", "20..10"])
        .end();
    assert!(
        read.says(&["lines 20..10 end before they begin; write 10..20"])
            .text()
            .is_empty()
    );
    let found = bench
        .tool(&["output", "search", id, "72999", "--most", "2"])
        .end();
    let found = found.succeeded().says(&["there are more"]);
    assert_eq!(found.text(), "72999: 72999\n172999: 172999\n");
    let value = bench
        .tool(&["output", "read", id, "--pointer", "/rows"])
        .end();
    assert!(value.says(&["is no JSON"]).text().is_empty());

    bench
        .tool(&["output", "prune"])
        .end()
        .succeeded()
        .says(&["1 outputs are kept"]);
    bench
        .tool(&["output", "prune", id])
        .end()
        .succeeded()
        .says(&["0 outputs are kept"]);
    bench
        .tool(&["output", "read", id])
        .end()
        .says(&["; it was removed; `tool output list`"]);
}

/// What an operator is told of the store.
fn listed(bench: &Workbench) -> usize {
    let listed = bench.tool(&["output", "list", "--json"]).end().json();
    listed["outputs"].as_array().unwrap().len()
}

#[test]
fn the_end_of_a_session_removes_what_it_left_and_nothing_else() {
    let bench = Workbench::new();
    let command = json!({"command": "seq 1 20000"});
    bench.call("shell", &command);
    let mut client = StdioClient::start(bench.open(&["serve"]));
    client.call("shell", command.clone());
    assert_eq!(
        listed(&bench),
        2,
        "an operator reads what a live session has"
    );
    client.close_stdin();
    assert!(client.ended().success());
    assert_eq!(listed(&bench), 1, "a call of nobody's session stays");

    let serving = Serving::start(bench.open(&["serve"]));
    let mut client = HttpClient::new(serving.url());
    client.shake_hands();
    client.call("shell", command).answer().rest();
    assert_eq!(listed(&bench), 2);
    assert!(client.end_session().answer().status < 300);
    until("the end of the session", || {
        (listed(&bench) == 1).then_some(())
    });
}

/// The most memory that a process ever had, in bytes.
#[cfg(target_os = "linux")]
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().trim().strip_suffix(" kB").unwrap();
    kib.trim().parse::<u64>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_that_prints_300_mb_takes_no_memory_to_speak_of() {
    const KEPT: usize = 64 * 1024 * 1024 - 64 * 1024;
    let bench = Workbench::new();
    let mut client = StdioClient::start(bench.open(&["serve"]));
    client.call("shell", json!({"command": "seq 1 20000"}));
    let [.., gateway] = processes(client.pid());
    let before = peak(gateway);
    let command = "head -c 300000000 /dev/zero | tr '\\0' x";
    let result = client.call("shell", json!({"command": command}));
    assert_eq!(result["isError"], false, "{result}");
    let grown = peak(gateway) - before;
    assert!(grown < 24 << 20, "{grown} bytes for 300 MB");

    assert_eq!(result["structuredContent"]["bytes"], 300_000_000);
    let texts = result["content"].as_array().unwrap();
    let marker = texts[1]["text"].as_str().unwrap();
    let lost = 300_000_000 - KEPT;
    let loss = format!("The tool itself had left out {lost} bytes before");
    assert!(marker.contains(&loss), "{marker}");
    assert!(
        marker.contains(&format!("bytes of {KEPT} and 0 lines of 1")),
        "{marker}"
    );
    check_preview(&result["content"], &"x".repeat(KEPT));
}
