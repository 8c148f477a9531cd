//! Solver processes that communicate in SMT-LIB 2 over pipes.
//!
//! A [`Solver`] is a stack of assertions and one or more commands that can decide it. The first solver
//! starts alone; if it takes longer than a moment, the others get the same assertions, and the first answer
//! wins. Solvers that are still running then are killed and restarted when needed; so is a process that
//! exited or exceeded the timeout.

mod command;
mod pipe;
mod sexpr;
mod stack;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::node::Term;
use crate::pool::Pool;
use pipe::Pipe;
use sexpr::Sexpr;
use stack::{SentLevels, Stack};

pub use command::Command;

/// Polling interval of racing solvers.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Timeout for a report (values, core) about an answer.
const REPORT_TIMEOUT: Duration = Duration::from_secs(20);

/// A solver's answer about the assertions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// They are satisfiable.
    Sat,
    /// They are unsatisfiable.
    Unsat,
    /// Undecided, with the reason.
    Unknown(String),
}

/// Limits on the use of solvers.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Timeout of one query.
    pub timeout: Duration,
    /// How long the first solver runs alone.
    pub alone: Duration,
    /// How many solvers may run at the same time.
    pub max_parallel: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        let max_parallel = std::thread::available_parallelism().map_or(1, usize::from);
        Limits { timeout: Duration::from_secs(10), alone: Duration::from_millis(100), max_parallel }
    }
}

/// A stack of assertions, and solvers that decide it.
pub struct Solver {
    limits: Limits,
    cores: bool,
    stack: Stack,
    members: Vec<Member>,
    /// Index of the solver that answered last.
    winner: usize,
    restarts: u64,
}

/// One solver: its process, if it is running, and the part of the stack that it has.
struct Member {
    command: Command,
    running: Option<(Pipe, SentLevels)>,
    /// Whether the running process was started with a logic that has floating-point numbers.
    floats: bool,
}

impl Solver {
    /// `cores`: enables unsat cores, which makes solvers a little slower.
    pub fn new(commands: Vec<Command>, limits: Limits, cores: bool) -> Solver {
        let members =
            commands.into_iter().map(|command| Member { command, running: None, floats: false }).collect();
        Solver { limits, cores, stack: Stack::new(), members, winner: 0, restarts: 0 }
    }

    /// Number of pushed levels.
    pub fn depth(&self) -> usize {
        self.stack.depth()
    }

    /// Opens a level: what is asserted from here on is removed by the matching [`Solver::pop`].
    pub fn push(&mut self) {
        self.stack.push();
    }

    /// Removes the top level with its assertions.
    pub fn pop(&mut self) {
        self.stack.pop();
    }

    /// Asserts a truth value at the current level.
    pub fn assert(&mut self, pool: &Pool, condition: Term) {
        self.stack.assert(pool, condition, None);
    }

    /// Asserts a truth value with a number that identifies it in an unsat core. Numbers on the stack must be
    /// distinct.
    pub fn assert_named(&mut self, pool: &Pool, condition: Term, name: u32) {
        self.stack.assert(pool, condition, Some(name));
    }

    /// How often a process had to be restarted.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// The name of the solver that answered last.
    pub fn winner(&self) -> String {
        self.members.get(self.winner).map(|member| member.command.name()).unwrap_or_default()
    }

    /// Whether all assertions are satisfiable together.
    pub fn check(&mut self) -> Result<Answer, Error> {
        let end = Instant::now() + self.limits.timeout;
        let mut first_error = None;
        let mut reason = None;
        // Members with a query in progress.
        let mut asked: Vec<usize> = Vec::new();
        let mut next = 0;
        let mut join = Instant::now();
        loop {
            let now = Instant::now();
            let room = asked.len() < self.limits.max_parallel.max(1);
            if next < self.members.len() && (asked.is_empty() || (room && now >= join)) {
                match self.ask(next) {
                    Ok(()) => asked.push(next),
                    Err(error) => drop(first_error.get_or_insert(error)),
                }
                next += 1;
                join = now + self.limits.alone;
                continue;
            }
            if asked.is_empty() {
                break;
            }
            if now >= end {
                reason = Some(format!("no answer within {}", seconds(self.limits.timeout)));
                break;
            }
            // A single running solver needs no polling.
            let turn = match (asked.len(), next < self.members.len() && room) {
                (1, false) => end,
                (1, true) => join.min(end),
                _ => (now + POLL_INTERVAL).min(end),
            };
            let mut at = 0;
            while at < asked.len() {
                let member = asked[at];
                match self.poll(member, turn, end) {
                    Ok(None) => at += 1,
                    Ok(Some(Answer::Unknown(why))) => {
                        reason.get_or_insert(why);
                        asked.remove(at);
                    }
                    Ok(Some(answer)) => {
                        asked.remove(at);
                        self.stop(&asked);
                        self.winner = member;
                        return Ok(answer);
                    }
                    Err(error) => {
                        self.stop(&[member]);
                        first_error.get_or_insert(error);
                        asked.remove(at);
                    }
                }
            }
        }
        self.stop(&asked);
        match (reason, first_error) {
            (Some(reason), _) => Ok(Answer::Unknown(reason)),
            (None, Some(error)) => Err(error),
            (None, None) => Err(Error::NoSolver),
        }
    }

    /// Kills running solvers; they are restarted when needed.
    fn stop(&mut self, members: &[usize]) {
        for &member in members {
            self.members[member].running = None;
            self.restarts += 1;
        }
    }

    fn ask(&mut self, member: usize) -> Result<(), Error> {
        let floats = self.stack.has_floats();
        let preamble = self.preamble(floats);
        let member = &mut self.members[member];
        if floats && !member.floats {
            // The logic can be set only at the start.
            member.running = None;
        }
        let (pipe, followed) = match &mut member.running {
            Some(running) => running,
            none => {
                let mut pipe = Pipe::start(&member.command, self.limits.timeout)?;
                pipe.send(preamble);
                member.floats = floats;
                none.insert((pipe, SentLevels::default()))
            }
        };
        let mut text = self.stack.synchronise(followed);
        text.push_str("(check-sat)\n");
        pipe.send(text);
        Ok(())
    }

    fn preamble(&self, floats: bool) -> String {
        let cores = if self.cores { "(set-option :produce-unsat-cores true)\n" } else { "" };
        let logic = if floats { "QF_ABVFP" } else { "QF_ABV" };
        format!(
            "(set-option :print-success false)\n(set-option :produce-models true)\n{cores}(set-logic {logic})\n"
        )
    }

    /// The answer, if it arrives by `turn`. A process that exited without output is restarted once, in case
    /// the cause was transient.
    fn poll(&mut self, member: usize, turn: Instant, end: Instant) -> Result<Option<Answer>, Error> {
        let Some((pipe, _)) = &mut self.members[member].running else { return Err(Error::NoSolver) };
        let said = match pipe.receive("an answer", turn) {
            Err(Error::Exited { .. }) => {
                self.stop(&[member]);
                self.ask(member)?;
                let Some((pipe, _)) = &mut self.members[member].running else {
                    return Err(Error::NoSolver);
                };
                pipe.receive("an answer", turn.max(Instant::now() + POLL_INTERVAL).min(end))?
            }
            said => said?,
        };
        let solver = self.members[member].command.name();
        match said {
            None => Ok(None),
            Some(said) => match said.atom() {
                Some("sat") => Ok(Some(Answer::Sat)),
                Some("unsat") => Ok(Some(Answer::Unsat)),
                Some("unknown") => Ok(Some(Answer::Unknown(self.reason(member)))),
                _ => Err(reply_error(solver, "an answer", &said)),
            },
        }
    }

    fn reason(&mut self, member: usize) -> String {
        let name = self.members[member].command.name();
        let Some((pipe, _)) = &mut self.members[member].running else { return String::new() };
        pipe.send("(get-info :reason-unknown)\n".to_owned());
        match pipe.receive("a reason", Instant::now() + Duration::from_secs(1)) {
            Ok(Some(said)) => {
                let reason = match said.list() {
                    Some([_, Sexpr::Atom(reason) | Sexpr::Text(reason)]) => reason.clone(),
                    _ => said.shown(),
                };
                format!("{name} does not know: {reason}")
            }
            _ => {
                self.stop(&[member]);
                format!("{name} does not know")
            }
        }
    }

    /// Requests a report from the solver that answered last.
    fn report(&mut self, question: String, wanted: &'static str) -> Result<Sexpr, Error> {
        let winner = self.winner;
        let solver = self.winner();
        let Some(Member { running: Some((pipe, _)), .. }) = self.members.get_mut(winner) else {
            return Err(Error::NoSolver);
        };
        pipe.send(question);
        let said = match pipe.receive(wanted, Instant::now() + REPORT_TIMEOUT) {
            Ok(Some(said)) => said,
            Ok(None) => {
                self.stop(&[winner]);
                return Err(Error::ErrorReply { solver, message: format!("{wanted} took too long") });
            }
            Err(error) => {
                self.stop(&[winner]);
                return Err(error);
            }
        };
        if said.error().is_some() {
            self.stop(&[winner]);
            return Err(reply_error(solver, wanted, &said));
        }
        Ok(said)
    }

    /// After `Sat`: the values of these variables. Variables in no assertion are left out: they are
    /// unconstrained.
    pub fn values(&mut self, variables: &[u32]) -> Result<HashMap<u32, u128>, Error> {
        let mut asked = Vec::new();
        let mut question = String::from("(get-value (");
        for &variable in variables {
            if let Some(symbol) = self.stack.symbol_of(variable) {
                question.push_str(symbol);
                question.push(' ');
                asked.push(variable);
            }
        }
        if asked.is_empty() {
            return Ok(HashMap::new());
        }
        question.push_str("))\n");
        let said = self.report(question, "values")?;
        let values = said.list().filter(|pairs| pairs.len() == asked.len()).and_then(|pairs| {
            let value = |(&variable, pair): (&u32, &Sexpr)| match pair.list()? {
                [_, value] => Some((variable, value.number()?)),
                _ => None,
            };
            asked.iter().zip(pairs).map(value).collect()
        });
        values.ok_or_else(|| reply_error(self.winner(), "values", &said))
    }

    /// After `Unsat`: the numbers of an unsatisfiable set of named assertions.
    pub fn core(&mut self) -> Result<Vec<u32>, Error> {
        let said = self.report("(get-unsat-core)\n".to_owned(), "a core")?;
        let number = |item: &Sexpr| item.atom()?.strip_prefix('n')?.parse().ok();
        let core = said.list().and_then(|items| items.iter().map(number).collect());
        core.ok_or_else(|| reply_error(self.winner(), "a core", &said))
    }
}

fn reply_error(solver: String, wanted: &'static str, said: &Sexpr) -> Error {
    match said.error() {
        Some(message) => Error::ErrorReply { solver, message },
        None => Error::UnexpectedOutput { solver, wanted, said: said.shown() },
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests;
