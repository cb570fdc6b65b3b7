//! Several servers over HTTP, called in turns with as much on its way as is said.

use std::error::Error;
use std::time::{Duration, Instant};

use super::http::Client;
use super::process::Program;
use crate::rounds::Rounds;

/// How long one turn is to take. The time that a process has run is told in steps.
const TURN: Duration = Duration::from_millis(40);

/// Contenders over HTTP, and what they took.
pub struct Load<'a> {
    contenders: Vec<(Client, Option<&'a Program>)>,
    times: Rounds,
    cpu: Rounds,
}

impl<'a> Load<'a> {
    pub fn new() -> Self {
        Self {
            contenders: Vec::new(),
            times: Rounds::default(),
            cpu: Rounds::default(),
        }
    }

    /// Adds a contender, and gives its number. Only of a program is it told how long it ran.
    pub fn add(&mut self, client: Client, program: Option<&'a Program>) -> usize {
        self.contenders.push((client, program));
        self.contenders.len() - 1
    }

    /// Measures so many rounds.
    pub fn measure(&mut self, rounds: u32) -> Result<(), Box<dyn Error>> {
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
        self.times = Rounds::of(times);
        self.cpu = Rounds::of(cpu);
        Ok(())
    }

    /// Nanoseconds from one answer to the next.
    pub fn times(&self) -> &Rounds {
        &self.times
    }

    /// Nanoseconds that the program ran for one call.
    pub fn cpu(&self) -> &Rounds {
        &self.cpu
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
