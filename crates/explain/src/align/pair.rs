//! Pairs the processes and threads of two recordings.

use recording::argument::Argument;
use recording::{Decoder, Event, Process, Recording};
use replay::process::{LoadedProcess, LoadedStream};
use std::path::Path;

/// Pairs (bad, good) of indices into `processes`. Processes with the same program and the same arguments are
/// paired in the order of their start; then those of the same program with other arguments.
#[must_use]
pub fn pair_processes(good: &Recording, bad: &Recording) -> Vec<(usize, usize)> {
    let describe = |recording: &Recording| recording.processes.iter().map(Kind::of).collect::<Vec<_>>();
    pair(&describe(bad), &describe(good))
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Kind {
    program: String,
    arguments: Vec<Argument>,
    forked: bool,
}

impl Kind {
    fn of(process: &Process) -> Kind {
        let name = |path: &str| Path::new(path).file_name().map(|n| n.to_string_lossy().into_owned());
        let info = &process.info;
        let program = name(&info.executable).or_else(|| name(&info.arguments.first()?.text()));
        Kind {
            program: program.unwrap_or_default(),
            arguments: info.arguments.iter().skip(1).cloned().collect(),
            forked: info.forked_from.is_some(),
        }
    }
}

fn pair(bad: &[Kind], good: &[Kind]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut taken = vec![false; good.len()];
    let rounds: [fn(&Kind, &Kind) -> bool; 3] =
        [|a, b| a == b, |a, b| a.program == b.program && a.forked == b.forked, |a, b| a.program == b.program];
    for same in rounds {
        for (b, kind) in bad.iter().enumerate() {
            if pairs.iter().any(|p: &(usize, usize)| p.0 == b) {
                continue;
            }
            if let Some(g) = (0..good.len()).find(|g| !taken[*g] && same(kind, &good[*g])) {
                taken[g] = true;
                pairs.push((b, g));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Pairs (bad, good) of indices into `streams`: threads are paired by their first function and the order of
/// their creation.
#[must_use]
pub fn pair_streams(good: &LoadedProcess, bad: &LoadedProcess) -> Vec<(usize, usize)> {
    let describe = |p: &LoadedProcess| -> Vec<(bool, String)> {
        let thread = |s: &LoadedStream| s.kind == recording::header::StreamKind::Thread;
        p.streams.iter().map(|s| (thread(s), first_function(p, s))).collect()
    };
    let (bad, good) = (describe(bad), describe(good));
    let mut pairs = Vec::new();
    let mut taken = vec![false; good.len()];
    for (b, kind) in bad.iter().enumerate() {
        if let Some(g) = (0..good.len()).find(|g| !taken[*g] && *kind == good[*g]) {
            taken[g] = true;
            pairs.push((b, g));
        }
    }
    pairs
}

/// The function a stream entered first.
fn first_function(process: &LoadedProcess, stream: &LoadedStream) -> String {
    for part in &stream.stream.parts {
        let mut decoder = Decoder::new(part);
        while let Ok(Some((_, event))) = decoder.next() {
            if let Event::Enter { module, function, .. } = event {
                let module = process.image.module(process.image.canonical(module));
                return module.functions.get(function as usize).map_or_else(String::new, |f| f.name.clone());
            }
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(program: &str, arguments: &[&str]) -> Kind {
        Kind {
            program: program.to_owned(),
            arguments: arguments.iter().map(|a| (*a).into()).collect(),
            forked: false,
        }
    }

    #[test]
    fn the_same_arguments_come_before_the_same_order() {
        let good = [kind("a", &["1"]), kind("a", &["2"]), kind("b", &[])];
        let bad = [kind("b", &["x"]), kind("a", &["2"]), kind("a", &["3"]), kind("c", &[])];
        assert_eq!(pair(&bad, &good), [(0, 2), (1, 1), (2, 0)]);
    }

    #[test]
    fn equal_ones_go_by_order() {
        let both = [kind("a", &[]), kind("a", &[]), kind("a", &[])];
        assert_eq!(pair(&both, &both), [(0, 0), (1, 1), (2, 2)]);
    }

    #[test]
    fn a_fork_is_paired_with_a_fork() {
        let mut child = kind("a", &[]);
        child.forked = true;
        let good = [child.clone(), kind("a", &[])];
        let bad = [kind("a", &[]), child];
        assert_eq!(pair(&bad, &good), [(0, 1), (1, 0)]);
    }
}
