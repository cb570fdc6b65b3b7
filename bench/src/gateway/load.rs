//! Several servers over HTTP, called in turns with as much on its way as is said.

use std::error::Error;
use std::time::{Duration, Instant};

use super::http::Client;
use super::process::Program;
use crate::rounds::Rounds;

/// How long one turn is to take. The time that a process has run is told in steps.
const TURN: Duration = Duration::from_millis(40);

/// Contenders over HTTP.
#[derive(Default)]
pub struct Load<'a> {
    contenders: Vec<(Client, Option<&'a Program>)>,
}

/// What they took.
#[derive(Default)]
pub struct Taken {
    /// Nanoseconds from one answer to the next.
    pub times: Rounds,
    /// Nanoseconds that the program ran for one call.
    pub cpu: Rounds,
}

impl<'a> Load<'a> {
    /// Adds a contender. Only of a program is it told how long it ran.
    pub fn add(&mut self, client: Client, program: Option<&'a Program>) {
        self.contenders.push((client, program));
    }

    /// Measures so many rounds.
    pub fn measure(mut self, rounds: u32) -> Result<Taken, Box<dyn Error>> {
        let mut calls = Vec::new();
        for (client, _) in &mut self.contenders {
            calls.push(calls_per_turn(client)?);
        }
        let count = self.contenders.len();
        let (mut times, mut cpu) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for round in 0..rounds as usize {
            for position in 0..count {
                let index = (round + position) % count;
                let (client, program) = &mut self.contenders[index];
                let ran = |program: &Option<&Program>| program.map_or(0, Program::cpu_ns);
                let (before, start) = (ran(program), Instant::now());
                client.calls(calls[index])?;
                let (took, after) = (start.elapsed(), ran(program));
                let of_one = |nanos: f64| nanos / calls[index] as f64;
                times[index].push(of_one(took.as_secs_f64() * 1e9));
                cpu[index].push(of_one(after.saturating_sub(before) as f64));
            }
        }
        Ok(Taken {
            times: Rounds::of(times),
            cpu: Rounds::of(cpu),
        })
    }
}

/// Warms up and finds out how many calls fill a turn.
fn calls_per_turn(client: &mut Client) -> Result<usize, Box<dyn Error>> {
    let mut calls = 64;
    loop {
        let start = Instant::now();
        client.calls(calls)?;
        let took = start.elapsed();
        if took >= TURN {
            let fitting = calls as f64 * TURN.as_secs_f64() / took.as_secs_f64();
            return Ok((fitting as usize).max(1));
        }
        calls *= 2;
    }
}
