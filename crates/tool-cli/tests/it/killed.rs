//! A gateway that is killed by force can do nothing any more; what it started ends nevertheless.

use std::fs;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::deadline::until;
use crate::invocation::wait;
use crate::leaving::{in_a_call, serve_with, signal, sleepers};
use crate::marked::{Mark, children, is_alive};
use crate::stdio_client::StdioClient;
use crate::workbench::Workbench;

/// Whom a kill by force can hit.
#[derive(Clone, Copy, Debug)]
enum Hit {
    /// The process that the client started.
    Front,
    /// The one that stands between it and the gateway.
    Guard,
    /// The one that does the work.
    Gateway,
    /// The same, as it ends where a panic or a fault of the machine ends it: all at once.
    Crash,
    /// The process group of the program.
    Group,
}

/// Those that leave somebody who knows of every process.
const HITS: [Hit; 5] = [Hit::Front, Hit::Guard, Hit::Gateway, Hit::Crash, Hit::Group];

/// Front, guard and gateway, from the number of the first.
pub(crate) fn processes(front: u32) -> [u32; 3] {
    let below = |pid| {
        until("the process below", || {
            // Who has lost its parent is there too.
            let mut children = children(pid).into_iter();
            children.find(|child| {
                let line = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
                line.split(|byte| *byte == 0)
                    .nth(1)
                    .is_some_and(|word| word.starts_with(b"__guard"))
            })
        })
    };
    let guard = below(front);
    [front, guard, below(guard)]
}

/// Kills, and gives the processes of the program, all of which have to be gone then.
#[track_caller]
fn hit(hit: Hit, front: u32) -> [u32; 3] {
    let all @ [front, guard, gateway] = processes(front);
    match hit {
        Hit::Front => signal("KILL", &[front.to_string()]),
        Hit::Guard => signal("KILL", &[guard.to_string()]),
        Hit::Gateway => signal("KILL", &[gateway.to_string()]),
        Hit::Crash => signal("ABRT", &[gateway.to_string()]),
        Hit::Group => signal("KILL", &["--".to_owned(), format!("-{front}")]),
    }
    all
}

#[track_caller]
fn assert_gone(hit: Hit, child: &mut Child, processes: [u32; 3], mark: &Mark) {
    assert!(wait(child).is_some(), "{hit:?}");
    mark.assert_gone();
    for pid in processes {
        until(&format!("the end of {pid}, {hit:?}"), || {
            (!is_alive(pid)).then_some(())
        });
    }
}

#[test]
fn law_15_a_gateway_that_is_killed_leaves_no_process_of_the_shell() {
    for how in HITS {
        let (bench, mark) = (Workbench::new(), Mark::new());
        let (mut client, _) = in_a_call(&bench, &mark);
        let all = hit(how, client.pid());
        assert_gone(how, client.child(), all, &mark);
    }
}

#[test]
fn law_15_a_gateway_that_is_killed_leaves_no_process_of_a_server() {
    for how in HITS {
        let (bench, mark) = (Workbench::new(), Mark::new());
        let mut child = sleepers(&bench, &mark);
        let all = hit(how, child.id());
        assert_gone(how, &mut child, all, &mark);
    }
}

/// Nobody is left who knows of its processes, but it does not go on serving by itself.
#[test]
fn a_gateway_whose_front_and_guard_are_killed_at_once_ends() {
    let bench = Workbench::new();
    let mut client = StdioClient::start(bench.open(&["serve"]));
    let [front, guard, gateway] = processes(client.pid());
    let above = [front.to_string(), guard.to_string()];
    // Neither may see the other end.
    signal("STOP", &above);
    signal("KILL", &above);
    until("the end of the gateway", || {
        (!is_alive(gateway)).then_some(())
    });
    assert!(wait(client.child()).is_some());
}

#[test]
fn a_command_line_call_that_is_killed_leaves_no_process() {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let arguments = json!({"command": mark.line()}).to_string();
    let mut call = bench.open(&["call", "shell", &arguments]).into_command();
    let mut child = call.stderr(Stdio::null()).spawn().unwrap();
    mark.wait_for(3);
    let all = hit(Hit::Front, child.id());
    assert_gone(Hit::Front, &mut child, all, &mark);
}

/// Nothing but its descent tells whose it is: it has another session, another environment and no
/// parent.
#[test]
fn a_process_that_hides_where_it_comes_from_ends_with_the_gateway() {
    let hides = "(env -i setsid sleep 600 < /dev/null > /dev/null 2>&1 & echo $! > root/pid); \
                 sleep 600 & touch root/started; cat > /dev/null";
    for name in ["KILL", "TERM"] {
        let (bench, mark) = (Workbench::new(), Mark::new());
        let mut child = serve_with(&bench, &mark, hides);
        let pid = fs::read_to_string(bench.root().join("pid")).unwrap();
        let pid: u32 = pid.trim().parse().unwrap();
        assert!(is_alive(pid));
        signal(name, &[child.id().to_string()]);
        assert!(wait(&mut child).is_some(), "SIG{name}");
        until(&format!("the end of {pid}, SIG{name}"), || {
            (!is_alive(pid)).then_some(())
        });
    }
}

#[test]
fn a_gateway_outlives_whoever_started_it_in_the_background() {
    let bench = Workbench::new();
    let serve = bench.open(&["serve", "--http", "127.0.0.1:0"]);
    let log = bench.path().join("log");
    let mut command = serve.into_command();
    let mut line = Command::new("bash");
    line.args(["-c", "\"$@\" > /dev/null 2> \"$0\" < /dev/null & echo $!"])
        .arg(&log)
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap_or(bench.path()));
    command.stdin(Stdio::null());
    let started = line.output().unwrap();
    let front = String::from_utf8(started.stdout).unwrap();
    let front: u32 = front.trim().parse().unwrap();
    until("the address of the server", || {
        fs::read_to_string(&log)
            .ok()?
            .contains("serving MCP at ")
            .then_some(())
    });
    let all = processes(front);
    signal("TERM", &[front.to_string()]);
    for pid in all {
        until("the end of the program", || (!is_alive(pid)).then_some(()));
    }
}
