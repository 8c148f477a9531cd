//! Measures slices of a recording: `measure RECORDING dynamic|relevant [QUESTIONS [LIMIT]]`.
//!
//! Slices for all operands of executed instructions, at steps spread evenly over the longest stream of the
//! first process, including the last one. Writes figures as lines of `name=value`; `cargo xtask bench slice`
//! makes a table of them. `relevant` slices use the usual limit or another one. The time of the last
//! question is also reported separately. For relevant slices it reports how long the static analysis took,
//! how many slices reached their limit, and whether the points-to analysis fell back to a coarser one.
//!
//! For dynamic slices it also reports the time of a plain replay, and of a question about the last 1 % of
//! the run: the last execution of an instruction that ran there, and its values. Two slicers answer it; the
//! second finds the timeline that the first has stored. The timelines are deleted at the end.

use replay::machine::Machine;
use replay::observer::Null;
use replay::process::{LoadedProcess, Options};
use replay::vars::Limits;
use slice::{Criterion, Occurrence, Relevance, Request, Site, Slicer, SlicerOptions, Wanted};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (path, mode) = match &args[..] {
        [path, mode, ..] => (Path::new(path), mode.as_str()),
        _ => return Err("usage: measure RECORDING dynamic|relevant [QUESTIONS [LIMIT]]".into()),
    };
    let questions: u64 = args.get(2).map_or(Ok(5), |n| n.parse())?;
    let recording = recording::Recording::open(path)?;
    let first = recording.processes.first().ok_or("the recording has no process")?;
    let process = LoadedProcess::load(&recording, first, &Options::default())?;
    forget_timelines(&process);
    let started = Instant::now();
    let slicer = Slicer::new(&process, SlicerOptions::default());
    if !["dynamic", "relevant"].contains(&mode) {
        return Err(format!("no such kind of slice: {mode}").into());
    }
    let mut longest = (0, 0);
    for stream in 0..process.streams.len() as u32 {
        longest = longest.max((slicer.steps(stream)?, stream));
    }
    let (steps, stream) = longest;
    println!("instructions={steps}");
    println!("prepared={:.6}", started.elapsed().as_secs_f64());
    let code: usize =
        process.image.modules().flat_map(|(_, m)| &m.model.functions).map(|f| f.code.len()).sum();
    let (mut taken, mut sites, mut walked) = (0, 0, 0);
    let limit = args.get(3).map_or(Ok(Relevance::default().limit), |n| n.parse())?;
    let relevance = (mode == "relevant").then(|| Relevance { limit, ..Relevance::default() });
    let started = Instant::now();
    if let Some(relevance) = relevance {
        slicer.prepare_relevant(relevance.precision)?;
        println!("analysed={:.6}", started.elapsed().as_secs_f64());
    }
    let started = Instant::now();
    let (mut limited, mut coarse, mut last) = (0, false, started);
    for n in 1..=questions {
        let at = Occurrence { stream, step: (steps * n / questions).saturating_sub(2) };
        last = Instant::now();
        let criteria = [Criterion { at, wanted: vec![Wanted::All] }];
        let slice =
            slicer.ask(&Request { criteria: &criteria, relevance, ..Request::default() }, &mut |_| {})?;
        taken += slice.sites.values().map(|t| t.count).sum::<u64>();
        sites += slice.sites.len();
        walked += slice.walked;
        limited += u32::from(slice.asked_back_to.is_some());
        coarse |= slice.coarse;
    }
    println!("sliced={:.6}", started.elapsed().as_secs_f64());
    println!("last={:.6}", last.elapsed().as_secs_f64());
    println!("questions={questions}");
    println!("walked={walked}");
    println!("taken={taken}");
    println!("sites={sites}");
    println!("code={code}");
    if relevance.is_some() {
        println!("limited={limited}");
        println!("coarse={}", u32::from(coarse));
    } else {
        let started = Instant::now();
        Machine::new(&process.image, &process.streams[stream as usize].stream).run(&mut Null, u64::MAX)?;
        println!("plain={:.6}", started.elapsed().as_secs_f64());
        let at = Occurrence { stream, step: steps - steps / 200 - 1 };
        println!("near_first={:.6}", near_the_end(&process, at)?);
        println!("near_second={:.6}", near_the_end(&process, at)?);
        let file = slice::timeline::path(&process, &process.streams[stream as usize]);
        let kept = file.and_then(|path| std::fs::metadata(path).ok());
        println!("timeline_bytes={}", kept.map_or(0, |file| file.len()));
        forget_timelines(&process);
    }
    Ok(())
}

/// Seconds until a new slicer has found the last execution of a step's instruction, with its values.
fn near_the_end(process: &LoadedProcess, at: Occurrence) -> Result<f64, Box<dyn Error>> {
    let started = Instant::now();
    let slicer = Slicer::new(process, SlicerOptions { keep_timeline: true, ..SlicerOptions::default() });
    let there = slicer.values(&[at], Limits::default())?;
    let sites: Vec<Site> = there.iter().filter_map(|snapshot| snapshot.site).collect();
    let last: Vec<Occurrence> = slicer.last_occurrences(&sites)?.into_iter().map(|l| l.1).collect();
    slicer.values(&last, Limits::default())?;
    Ok(started.elapsed().as_secs_f64())
}

fn forget_timelines(process: &LoadedProcess) {
    for path in process.streams.iter().filter_map(|stream| slice::timeline::path(process, stream)) {
        // Most often there is none.
        let _ = std::fs::remove_file(path);
    }
}
