//! Stories of the program, told by starting it: each test has a state and a workspace of its own.
//!
//! The shell tool and its signals are those of Unix.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and what it is told with may do so too"
)]

// What the stories are told with.
mod deadline;
#[cfg(target_os = "linux")]
mod echo_server;
#[cfg(target_os = "linux")]
mod held_by;
mod http_client;
mod invocation;
#[cfg(feature = "oauth")]
mod login_site;
/// Looks into the table of processes that Linux has.
#[cfg(target_os = "linux")]
mod marked;
mod peers;
mod recorder; // of what an upstream over HTTP is sent
mod serving;
mod stdio_client;
#[cfg(target_os = "linux")]
mod terminal;
mod workbench;

// What must hold, with other people's programs where they are installed.
#[cfg(target_os = "linux")]
mod audit; // the files of the record of calls
mod clients;
#[cfg(target_os = "linux")]
mod crowd;
#[cfg(target_os = "linux")]
mod cycles;
mod gateway;
#[cfg(target_os = "linux")]
mod hostile;
mod kept_secrets;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(target_os = "linux")]
mod leaving;
mod long_output;
mod mistakes;
mod refusals;
mod sandbox;
mod sdk_clients;

// What a person meets.
mod arguments;
#[cfg(target_os = "linux")]
mod at_a_terminal;
mod completions;
mod doctor;
mod help;
mod json;
mod labelled_arguments;
mod lint;
mod lint_servers;
#[cfg(feature = "oauth")]
mod login;
mod named_settings;
mod overlay;
mod pin;
mod pipes;
mod policy; // ... of what may be done
mod sarif;
mod serving_http;
mod settings;
#[cfg(target_os = "linux")]
mod sockets;
mod status_tool;
mod wire_list;
