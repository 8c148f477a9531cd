//! `relapse replay`: replays a recording and checks that the execution is the same.

use crate::failure::{Exit, Failure};
use crate::render::{Table, bytes, counted, grouped};
use crate::{Session, opened, progress, source};
use clap::Args;
use recording::Recording;
use recording::argument::Argument;
use recording::header::StreamKind;
use replay::machine::{Counters, End, Machine, Stop};
use replay::observer::Null;
use replay::process::{LoadedProcess, Options};
use replay::verify::{ProcessReport, Progress, StreamReport, Watch, verify};
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread::{self, ThreadId};
use std::time::Instant;

/// Replay a recording and check that the execution is the same
///
/// Replays every thread of every process and compares with the checksums in the recording. Exit code 0:
/// exact. 1: the replay diverged; the location is reported. 3: the recording is damaged or belongs to another
/// build. 4: the recording is incomplete; the existing part replays.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse replay run
  relapse replay run --json | jq .bits_per_instruction")]
pub struct ReplayArgs {
    /// Directory of the recording
    recording: PathBuf,
    /// Answer in JSON (schema relapse.replay/1)
    #[arg(long)]
    json: bool,
    /// How many streams to replay at once [default: number of cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Read the model from this file instead of the recorded one of the same name
    #[arg(long, value_name = "FILE")]
    binary: Vec<PathBuf>,
}

/// The JSON answer. See `docs/json.md`.
#[derive(Debug, Serialize)]
struct Answer {
    schema: &'static str,
    recording: String,
    exact: bool,
    complete: bool,
    #[serde(flatten)]
    figures: Figures,
    replay_seconds: f64,
    /// The defects of the recording, one sentence each.
    damage: Vec<String>,
    processes: Vec<ProcessAnswer>,
}

#[derive(Debug, Serialize)]
struct ProcessAnswer {
    process: String,
    pid: u32,
    executable: String,
    arguments: Vec<Argument>,
    exact: bool,
    /// Why the process could not be replayed at all.
    error: Option<String>,
    #[serde(flatten)]
    figures: Figures,
    replay_seconds: f64,
    streams: Vec<StreamAnswer>,
}

#[derive(Debug, Serialize)]
struct StreamAnswer {
    stream: String,
    kind: &'static str,
    exact: bool,
    end: Option<EndAnswer>,
    #[serde(flatten)]
    figures: Figures,
    error: Option<String>,
    divergence: Option<DivergenceAnswer>,
    damage: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Figures {
    instructions: u64,
    loads: u64,
    mispredicted: u64,
    bytes: u64,
    bits_per_instruction: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "how")]
enum EndAnswer {
    Exit { status: u32 },
    Crash { signal: u32, address: u64 },
    Exec,
    Cut,
}

#[derive(Debug, Serialize)]
struct DivergenceAnswer {
    function: String,
    file: String,
    line: u32,
    column: u32,
    instruction: u64,
    time: u64,
    expected: String,
    found: String,
}

pub fn run(args: &ReplayArgs, session: &mut Session) -> Result<Exit, Failure> {
    let recording = opened::recording(&args.recording)?;
    if recording.processes.is_empty() {
        return Err(Failure::new(
            Exit::Incomplete,
            format_args!("{} holds no recorded process", args.recording.display()),
        ));
    }
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(jobs) = args.jobs {
        pool = pool.num_threads(usize::from(jobs));
    }
    let pool = pool
        .build()
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("start threads: {e}")))?;
    let options = Options { binaries: args.binary.clone(), ..Options::default() };
    let answer = pool.install(|| answer(&recording, &options, session.watched))?;
    if args.json {
        session.json(&answer)?;
    } else {
        print(&answer, session)?;
    }
    Ok(exit(&answer))
}

fn exit(answer: &Answer) -> Exit {
    let diverged = answer.processes.iter().flat_map(|p| &p.streams).any(|s| s.error.is_some());
    match () {
        () if diverged => Exit::No,
        () if !answer.exact => Exit::BadInput,
        () if !answer.complete => Exit::Incomplete,
        () => Exit::Done,
    }
}

fn answer(recording: &Recording, options: &Options, watched: bool) -> Result<Answer, Failure> {
    let total: u64 = recording.processes.iter().flat_map(|p| &p.streams).map(|s| s.header.reached()).sum();
    let bar = progress::bar(watched, "replaying", total);
    let done = Mutex::new(HashMap::new());
    let tell = |p: Progress| {
        if let Ok(mut done) = done.lock() {
            done.insert((p.pid, p.stream), p.time);
            bar.set_position(done.values().sum());
        }
    };
    let begin = Instant::now();
    let watch = Stopwatch { tell, under_way: Mutex::default(), seconds: Mutex::default() };
    let reports = verify(recording, options, &watch).map_err(|e| opened::load_failure(&e))?;
    let seconds = watch.seconds.into_inner().unwrap_or_default();
    let processes: Vec<ProcessAnswer> = recording
        .processes
        .iter()
        .enumerate()
        .filter_map(|(i, process)| {
            let report = reports.iter().find(|r| r.name == process.name)?;
            let seconds = seconds.get(&i).copied().unwrap_or_default();
            Some(process_answer(recording, process, report, seconds))
        })
        .collect();
    bar.finish_and_clear();
    let damage = opened::complaints(recording);
    let damaged = recording.processes.iter().any(|p| !p.damage.is_empty())
        || processes.iter().flat_map(|p| &p.streams).any(|s| s.damage.is_some());
    let figures = Figures::sum(processes.iter().map(|p| p.figures));
    Ok(Answer {
        schema: "relapse.replay/1",
        recording: recording.path.display().to_string(),
        exact: !damaged && processes.iter().all(|p| p.exact),
        complete: !damaged && recording.manifest.as_ref().is_none_or(|m| m.complete),
        figures,
        replay_seconds: begin.elapsed().as_secs_f64(),
        damage,
        processes,
    })
}

/// Measures the time of each process. A process that begins on a thread suspends the measurement of the
/// previous one there.
struct Stopwatch<T> {
    tell: T,
    under_way: Mutex<HashMap<ThreadId, Vec<(usize, Instant)>>>,
    seconds: Mutex<HashMap<usize, f64>>,
}

impl<T> Stopwatch<T> {
    fn add(&self, process: usize, since: Instant) {
        if let Ok(mut seconds) = self.seconds.lock() {
            *seconds.entry(process).or_default() += since.elapsed().as_secs_f64();
        }
    }
}

impl<T: Fn(Progress) + Sync> Watch for Stopwatch<T> {
    fn progress(&self, progress: Progress) {
        (self.tell)(progress);
    }

    fn begins(&self, process: usize) {
        let Ok(mut under_way) = self.under_way.lock() else { return };
        let here = under_way.entry(thread::current().id()).or_default();
        if let Some((before, since)) = here.last() {
            self.add(*before, *since);
        }
        here.push((process, Instant::now()));
    }

    fn ends(&self, _: usize) {
        let Ok(mut under_way) = self.under_way.lock() else { return };
        let here = under_way.entry(thread::current().id()).or_default();
        if let Some((process, since)) = here.pop() {
            self.add(process, since);
        }
        if let Some(before) = here.last_mut() {
            before.1 = Instant::now();
        }
    }
}

fn process_answer(
    recording: &Recording,
    process: &recording::Process,
    report: &ProcessReport,
    seconds: f64,
) -> ProcessAnswer {
    let streams: Vec<StreamAnswer> = report.streams.iter().map(|s| stream_answer(s, recording)).collect();
    let mut figures = Figures::sum(streams.iter().map(|s| s.figures));
    // All files on disk count, not only the streams.
    for file in ["process.json", "process.raw", "modules", "modules.raw"] {
        figures.bytes +=
            std::fs::metadata(recording.path.join(&process.name).join(file)).map_or(0, |m| m.len());
    }
    ProcessAnswer {
        process: process.name.clone(),
        pid: process.info.pid,
        executable: process.info.executable.clone(),
        arguments: process.info.arguments.clone(),
        exact: report.exact() && !streams.is_empty(),
        error: report.error.as_ref().map(|e| opened::shorter(e, &recording.path)),
        figures: figures.rated(),
        replay_seconds: seconds,
        streams,
    }
}

fn stream_answer(report: &StreamReport, recording: &Recording) -> StreamAnswer {
    StreamAnswer {
        stream: format!("t{}", report.stream),
        kind: match report.kind {
            StreamKind::Thread => "thread",
            StreamKind::Signal => "signal",
        },
        exact: report.exact,
        end: report.end.map(|end| match end {
            End::Exit { status } => EndAnswer::Exit { status },
            End::Crash { signal, address, .. } => EndAnswer::Crash { signal, address },
            End::Exec => EndAnswer::Exec,
            End::Cut => EndAnswer::Cut,
        }),
        figures: Figures::of(report.counters, report.bytes).rated(),
        error: report.error.clone(),
        divergence: report.divergence.as_ref().map(|d| DivergenceAnswer {
            function: d.function.clone(),
            file: d.file.clone(),
            line: d.line,
            column: d.column,
            instruction: d.instruction,
            time: d.time,
            expected: d.expected.clone(),
            found: d.found.clone(),
        }),
        damage: report.damage.as_ref().map(|d| opened::shorter(d, &recording.path)),
    }
}

impl Figures {
    fn of(c: Counters, bytes: u64) -> Figures {
        Figures {
            instructions: c.instructions,
            loads: c.loads,
            mispredicted: c.mispredicted,
            bytes,
            bits_per_instruction: 0.0,
        }
    }

    fn sum(all: impl Iterator<Item = Figures>) -> Figures {
        let mut sum = Figures::default();
        for f in all {
            sum.instructions += f.instructions;
            sum.loads += f.loads;
            sum.mispredicted += f.mispredicted;
            sum.bytes += f.bytes;
        }
        sum.rated()
    }

    fn rated(mut self) -> Figures {
        self.bits_per_instruction = self.bytes as f64 * 8.0 / self.instructions.max(1) as f64;
        self
    }
}

fn print(answer: &Answer, session: &mut Session) -> Result<(), Failure> {
    let mut table = Table::new(&[
        "process",
        "program",
        ">streams",
        ">instructions",
        ">loads",
        ">mispredicted",
        ">size",
        ">bits/instruction",
    ]);
    for p in &answer.processes {
        table.row([
            p.process.clone(),
            p.arguments.first().map_or_else(|| source::short(&p.executable), |name| name.text().into_owned()),
            p.streams.len().to_string(),
            grouped(p.figures.instructions),
            grouped(p.figures.loads),
            grouped(p.figures.mispredicted),
            bytes(p.figures.bytes),
            match p.figures.instructions {
                0 => "-".to_owned(),
                _ => format!("{:.3}", p.figures.bits_per_instruction),
            },
        ]);
    }
    table.write(&mut session.out, session.paint)?;
    for sentence in &answer.damage {
        writeln!(session.out, "{} {sentence}", session.paint.bad("warning:"))?;
    }
    for p in &answer.processes {
        if let Some(error) = &p.error {
            writeln!(session.out, "{} {}: failed to {error}", session.paint.bad("not replayed:"), p.process)?;
        }
        for s in &p.streams {
            if let Some(damage) = &s.damage {
                let note = "everything before replays";
                writeln!(
                    session.out,
                    "{} {}/{}: {damage}; {note}",
                    session.paint.bad("damaged:"),
                    p.process,
                    s.stream
                )?;
            }
            if let Some(error) = &s.error {
                writeln!(
                    session.out,
                    "{} {}/{}: failed to {error}",
                    session.paint.bad("not exact:"),
                    p.process,
                    s.stream
                )?;
            }
        }
    }
    let verdict = match exit(answer) {
        Exit::Done => session.paint.good("exact:"),
        Exit::Incomplete => session.paint.bad("exact but incomplete:"),
        Exit::BadInput => session.paint.bad("exact up to the damage:"),
        _ => session.paint.bad("not exact:"),
    };
    writeln!(
        session.out,
        "{verdict} {}, {} replayed in {:.2} s",
        counted(answer.processes.len() as u64, "process"),
        counted(answer.figures.instructions, "instruction"),
        answer.replay_seconds
    )?;
    Ok(())
}

/// The number of instructions of all processes, if all of them replay exactly before the deadline.
pub fn count_instructions(recording: &Recording, deadline: Instant) -> Option<u64> {
    const SLICE: u64 = 1 << 20;
    let mut sum = 0;
    for process in &recording.processes {
        // Loading many small processes takes time too.
        if Instant::now() > deadline {
            return None;
        }
        let loaded = LoadedProcess::load(recording, process, &Options::default()).ok()?;
        for s in &loaded.streams {
            let mut machine = Machine::new(&loaded.image, &s.stream);
            while machine.run(&mut Null, machine.counters().instructions + SLICE).ok()? == Stop::Limit {
                if Instant::now() > deadline {
                    return None;
                }
            }
            sum += machine.counters().minus(&machine.inherited()).instructions;
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_per_instruction_of_sums() {
        let one = Figures { instructions: 100, bytes: 10, ..Figures::default() };
        let sum = Figures::sum([one, one].into_iter());
        assert_eq!((sum.instructions, sum.bytes), (200, 20));
        assert!((sum.bits_per_instruction - 0.8).abs() < 1e-12);
        assert!(Figures::default().rated().bits_per_instruction.abs() < 1e-12);
    }
}
