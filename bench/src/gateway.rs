//! What a gateway adds to a call, beside what a relay and another gateway add.

mod http;
mod lines;
mod load;
mod process;
mod programs;
mod relay;
mod upstream;

use std::cell::RefCell;
use std::error::Error;
use std::time::Duration;

pub use relay::relay;
pub use upstream::{serve_http, serve_streams};

use self::lines::Lines;
use self::load::{Load, Taken};
use self::programs::{Programs, Serving};
use self::upstream::TOOL;
use crate::report::Report;
use crate::rounds::{Contender, Rounds, Spread};
use crate::rows::{Amount, Line, Measured, Peer, Row, row};

type Done = Result<(), Box<dyn Error>>;

/// The most memory that an idle gateway may have.
const IDLE: f64 = 20e6;
/// Calls that are on their way at the same time.
const IN_FLIGHT: [usize; 3] = [1, 8, 64];

/// How often all programs are started afresh. On which core a process wakes up is decided once for many
/// rounds, and for each program by itself.
const STARTS: u32 = 5;

const STDIO: &[Row] = &[row("stdio: added", "gateway", "relay", Some(4.0))];
const HTTP: &[Row] = &[
    row("http: added", "gateway", "mcp-proxy", Some(0.5)),
    row("http: a call, 1 at once", "gateway", "mcp-proxy", Some(1.0)),
    row("http: a call, 8 at once", "gateway", "mcp-proxy", Some(1.0)),
    row(
        "http: a call, 64 at once",
        "gateway",
        "mcp-proxy",
        Some(1.0),
    ),
    row("http: CPU, 1 at once", "gateway", "mcp-proxy", Some(1.0)),
    row("http: CPU, 8 at once", "gateway", "mcp-proxy", Some(1.0)),
    row("http: CPU, 64 at once", "gateway", "mcp-proxy", Some(1.0)),
    Row {
        name: "memory, idle",
        ours: "gateway",
        peer: Peer::Memory(IDLE),
        bound: Some(1.0),
    },
    row("memory after load", "gateway", "mcp-proxy", None),
];

/// How long a turn over standard streams takes: long enough that being woken from a long sleep is
/// not what is measured.
const TURN: Duration = Duration::from_millis(5);

pub fn measure(report: &mut Report, rounds: u32) -> Done {
    let (stdio, http) = (
        report.asks_for("gateway", STDIO),
        report.asks_for("gateway", HTTP),
    );
    if !stdio && !http {
        return Ok(());
    }
    let programs = Programs::ready()?;
    if stdio {
        over_streams(report, &programs, rounds)?;
    }
    if http {
        over_http(report, &programs, (rounds / 10).max(10))?;
    }
    Ok(())
}

fn over_streams(report: &mut Report, programs: &Programs, rounds: u32) -> Done {
    let [of_direct, of_relay, of_gateway] = [0, 1, 2];
    let each = rounds.div_ceil(STARTS);
    let rounds = each * STARTS;
    let mut measured = Rounds::default();
    for _ in 0..STARTS {
        measured.append(start_over_streams(programs, each)?);
    }
    let line = |row: &Row| {
        Line::of(
            row,
            Measured {
                ours: Amount::Nanos(measured.extra(of_gateway, of_direct).median),
                peer: Amount::Nanos(measured.extra(of_relay, of_direct).median),
                ratio: measured.added(of_gateway, of_relay, of_direct),
            },
        )
    };
    report.add(
        format!(
            "gateway: what one call takes longer than the {:.0} ns of a server by itself, {rounds} rounds over {STARTS} starts",
            measured.nanos(of_direct).median
        ),
        report.asked("gateway", STDIO).map(line).collect(),
    );
    Ok(())
}

/// Starts the server, the relay and the gateway, and measures so many rounds.
fn start_over_streams(programs: &Programs, rounds: u32) -> Result<Rounds, Box<dyn Error>> {
    let start =
        |command: &mut std::process::Command, tool| Lines::start(command, tool).map(RefCell::new);
    let direct = start(&mut programs.server(), TOOL)?;
    let relay = start(&mut programs.relay(), TOOL)?;
    let gateway = start(&mut programs.gateway(), "srv__add")?;
    let failed = RefCell::new(None);
    let contenders = [
        caller("direct", &direct, &failed),
        caller("relay", &relay, &failed),
        caller("gateway", &gateway, &failed),
    ];
    let measured = Rounds::measure_for(&contenders.each_ref(), rounds, TURN);
    match failed.take() {
        Some(error) => Err(error),
        None => Ok(measured),
    }
}

/// Calls over standard streams. The first that fails is kept, as a contender has no errors.
fn caller<'a>(
    name: &str,
    lines: &'a RefCell<Lines>,
    failed: &'a RefCell<Option<Box<dyn Error>>>,
) -> Contender<'a> {
    Contender::direct(name, || {
        if let Err(error) = lines.borrow_mut().call() {
            failed.borrow_mut().get_or_insert(error);
        }
    })
}

/// What was found of everybody over HTTP, in the order of the contenders: the gateway, its peer where
/// there is one, and the server by itself.
#[derive(Default)]
struct Found {
    /// By how many calls are on their way.
    taken: [Taken; IN_FLIGHT.len()],
    /// Bytes of the gateway and its peer, one number for each start.
    idle: Vec<f64>,
    memory: [Vec<f64>; 2],
}

impl Found {
    /// Starts everybody, and measures so many rounds.
    fn start(&mut self, programs: &Programs, rounds: u32) -> Done {
        let direct = programs.http_server()?;
        let gateway = programs.http_gateway()?;
        let proxy = programs.http_proxy()?;
        // Somebody has to have called, for until then nothing is loaded.
        gateway.client(1)?;
        let ours = gateway.program();
        self.idle.push(ours.memory() as f64);
        if let Some(proxy) = &proxy {
            proxy.client(1)?;
        }
        let others = proxy.as_ref().map(Serving::program);
        for (in_flight, taken) in IN_FLIGHT.into_iter().zip(&mut self.taken) {
            let mut load = Load::default();
            load.add(gateway.client(in_flight)?, Some(&ours));
            if let (Some(site), Some(program)) = (&proxy, &others) {
                load.add(site.client(in_flight)?, Some(program));
            }
            load.add(direct.client(in_flight)?, None);
            let Taken { times, cpu } = load.measure(rounds)?;
            taken.times.append(times);
            taken.cpu.append(cpu);
        }
        for (memory, program) in self.memory.iter_mut().zip([Some(ours), others]) {
            memory.extend(program.map(|program| program.memory() as f64));
        }
        Ok(())
    }
}

fn over_http(report: &mut Report, programs: &Programs, rounds: u32) -> Done {
    if let Some(missing) = programs.without_proxy() {
        eprintln!("bench: {missing}; it is left out");
    }
    let each = rounds.div_ceil(STARTS);
    let rounds = each * STARTS;
    let mut found = Found::default();
    for _ in 0..STARTS {
        found.start(programs, each)?;
    }
    let has_proxy = programs.without_proxy().is_none();
    let direct = if has_proxy { 2 } else { 1 };
    let [one, ..] = &found.taken;
    let idle = Spread::of(found.idle.clone());
    let memory = |which: usize| Spread::of(found.memory[which].clone());
    let times = |ours: Spread, peer: Spread, ratio| Measured {
        ours: Amount::Nanos(ours.median),
        peer: Amount::Nanos(peer.median),
        ratio,
    };
    let find = |name: &str| -> Option<Measured> {
        if name == "memory, idle" {
            return Some(Measured {
                ours: Amount::Bytes(idle.median),
                peer: Amount::Bytes(IDLE),
                ratio: idle.over(IDLE),
            });
        }
        // The gateway is the first, its peer the second.
        if !has_proxy {
            return None;
        }
        if name == "memory after load" {
            let (ours, peer) = (memory(0), memory(1));
            return Some(Measured {
                ours: Amount::Bytes(ours.median),
                peer: Amount::Bytes(peer.median),
                ratio: ours.over(peer.median),
            });
        }
        if name == "http: added" {
            let extra = |index| one.times.extra(index, direct);
            return Some(times(extra(0), extra(1), one.times.added(0, 1, direct)));
        }
        let at = IN_FLIGHT
            .iter()
            .position(|at| name.contains(&format!(" {at} at once")))?;
        let taken = found.taken.get(at)?;
        let rounds = match name.contains("CPU") {
            true => &taken.cpu,
            false => &taken.times,
        };
        Some(times(rounds.nanos(0), rounds.nanos(1), rounds.ratio(0, 1)))
    };
    let line = |row: &Row| Line {
        measured: find(row.name),
        ..Line::skipped(row)
    };
    report.add(
        format!(
            "gateway: one call over HTTP, which is {:.0} ns by itself, the CPU time of the gateway and its memory, {rounds} rounds over {STARTS} starts",
            one.times.nanos(direct).median
        ),
        report.asked("gateway", HTTP).map(line).collect(),
    );
    Ok(())
}
