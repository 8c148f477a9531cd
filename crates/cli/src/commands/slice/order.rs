//! The order in which the processes of a recording are asked about a line or a failure.
//!
//! A parent often fails because its child did, so the processes that failed come first: those that crashed,
//! then those with another exit status than 0, of these the last one to start.

use crate::opened;
use recording::Recording;
use replay::machine::End;
use slice::Slicer;

/// Recordings with more processes are asked in the order of their start: finding out how each ended replays
/// all of them.
const MOST: usize = 100;

/// How a process failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Failed {
    Crashed,
    Exited(u32),
}

impl Failed {
    fn words(self) -> String {
        match self {
            Failed::Crashed => "crashed".to_owned(),
            Failed::Exited(status) => format!("ended with status {status}"),
        }
    }
}

/// The processes by number, and for those that failed how, in words.
pub fn by_failure(recording: &Recording) -> Vec<(usize, Option<String>)> {
    let count = recording.processes.len();
    if !(2..=MOST).contains(&count) {
        return (0..count).map(|number| (number, None)).collect();
    }
    let mut all: Vec<(usize, Option<Failed>)> = Vec::new();
    for (number, process) in recording.processes.iter().enumerate() {
        // One that cannot be replayed is refused when it is asked.
        let Ok(loaded) = opened::process(recording, process) else {
            all.push((number, None));
            continue;
        };
        let slicer = Slicer::new(&loaded, opened::slicing());
        let mut how = None;
        for stream in 0..loaded.streams.len() as u32 {
            let ended = match slicer.end(stream) {
                Ok(Some(End::Crash { .. })) => Failed::Crashed,
                Ok(Some(End::Exit { status })) if status != 0 => Failed::Exited(status),
                _ => continue,
            };
            how = how.min(Some(ended)).or(Some(ended));
        }
        all.push((number, how));
    }
    let rank = |(number, how): &(usize, Option<Failed>)| match how {
        Some(Failed::Crashed) => (0, *number),
        Some(Failed::Exited(_)) => (1, count - number),
        None => (2, *number),
    };
    all.sort_by_key(rank);
    all.into_iter().map(|(number, how)| (number, how.map(Failed::words))).collect()
}
