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
use self::load::Load;
use self::process::Program;
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
    let [of_direct, of_relay, of_gateway] = [0, 1, 2];
    let measured = Rounds::measure_for(&contenders.each_ref(), rounds, TURN);
    if let Some(error) = failed.take() {
        return Err(error);
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
            "gateway: what one call takes longer than the {:.0} ns of a server by itself, {rounds} rounds",
            measured.nanos(of_direct).median
        ),
        report.asked("gateway", STDIO).map(line).collect(),
    );
    Ok(())
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

/// Everybody over HTTP, in the order of the contenders.
struct Sites {
    direct: Serving,
    gateway: Serving,
    proxy: Option<Serving>,
}

fn over_http(report: &mut Report, programs: &Programs, rounds: u32) -> Done {
    if let Some(missing) = programs.without_proxy() {
        eprintln!("bench: {missing}; it is left out");
    }
    let sites = Sites {
        direct: programs.http_server()?,
        gateway: programs.http_gateway()?,
        proxy: programs.http_proxy()?,
    };
    // Somebody has to have called, for until then nothing is loaded.
    sites.gateway.client(1)?;
    let gateway = sites.gateway.program();
    let idle = gateway.memory() as f64;
    let proxy = match &sites.proxy {
        Some(proxy) => {
            proxy.client(1)?;
            Some(proxy.program())
        }
        None => None,
    };
    let mut loads = Vec::new();
    for in_flight in IN_FLIGHT {
        let mut load = Load::new();
        load.add(sites.gateway.client(in_flight)?, Some(&gateway));
        if let (Some(site), Some(proxy)) = (&sites.proxy, &proxy) {
            load.add(site.client(in_flight)?, Some(proxy));
        }
        let direct = load.add(sites.direct.client(in_flight)?, None);
        load.measure(rounds)?;
        loads.push((load, direct));
    }
    let memory = |program: &Program| Spread::at(program.memory() as f64);

    let [(one, direct), ..] = loads.as_slice() else {
        return Ok(());
    };
    let has_proxy = proxy.is_some();
    let times = |ours: Spread, peer: Spread, ratio| Measured {
        ours: Amount::Nanos(ours.median),
        peer: Amount::Nanos(peer.median),
        ratio,
    };
    let find = |name: &str| -> Option<Measured> {
        if name == "memory, idle" {
            return Some(Measured {
                ours: Amount::Bytes(idle),
                peer: Amount::Bytes(IDLE),
                ratio: Spread::at(idle / IDLE),
            });
        }
        // The gateway is the first, its peer the second.
        if !has_proxy {
            return None;
        }
        if name == "memory after load" {
            let (ours, peer) = (memory(&gateway), memory(proxy.as_ref()?));
            return Some(Measured {
                ours: Amount::Bytes(ours.median),
                peer: Amount::Bytes(peer.median),
                ratio: ours.over(peer.median),
            });
        }
        if name == "http: added" {
            let extra = |index| one.times().extra(index, *direct);
            return Some(times(extra(0), extra(1), one.times().added(0, 1, *direct)));
        }
        let at = IN_FLIGHT
            .iter()
            .position(|at| name.contains(&format!(" {at} at once")))?;
        let load = &loads.get(at)?.0;
        let rounds = match name.contains("CPU") {
            true => load.cpu(),
            false => load.times(),
        };
        Some(times(rounds.nanos(0), rounds.nanos(1), rounds.ratio(0, 1)))
    };
    let line = |row: &Row| Line {
        measured: find(row.name),
        ..Line::skipped(row)
    };
    report.add(
        format!(
            "gateway: one call over HTTP, which is {:.0} ns by itself, the CPU time of the gateway and its memory, {rounds} rounds",
            one.times().nanos(*direct).median
        ),
        report.asked("gateway", HTTP).map(line).collect(),
    );
    Ok(())
}
