//! Checks the facts of an explanation against replays of the recordings that it names: lines that
//! are said to have run did, those said not to have run did not, conditions and values were what is said.
//!
//! Nothing of `explain` is used for that: a replay that looks at every instruction.

mod links;
mod values;

use program::inst::Inst;
use recording::Recording;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::{LoadedProcess, Options};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Longer runs are not looked at to their end.
const MOST_STEPS: u64 = 50_000_000;

/// What a recording shows, over all of its processes.
#[derive(Default)]
struct Shown {
    /// Lines that ran, by path.
    lines: BTreeMap<String, BTreeSet<u32>>,
    /// Not all of it was looked at.
    is_cut: bool,
    /// Places of the instructions that were asked for, and what branches saw.
    steps: HashMap<u64, Vec<(String, u32, Option<bool>)>>,
}

/// Looks at every instruction.
struct Eye<'e> {
    wanted: &'e HashSet<u64>,
    seen: u64,
    /// Module, file and line.
    lines: HashSet<(u32, u32, u32)>,
    steps: Vec<(u64, u32, u32, u32, Option<bool>)>,
}

impl Eye<'_> {
    fn look(&mut self, view: &View<'_>) {
        let place = view.place();
        self.lines.insert((view.code.module, place.file, place.line));
        self.seen += 1;
        if self.wanted.contains(&view.count) {
            let held = match view.inst() {
                Inst::Branch { cond, .. } => Some(view.value(*cond) & 1 != 0),
                _ => None,
            };
            self.steps.push((view.count, view.code.module, place.file, place.line, held));
        }
    }
}

impl Observer for Eye<'_> {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        self.look(view);
    }
}

impl Shown {
    fn read(directory: &Path, wanted: &HashSet<u64>) -> Result<Shown, String> {
        let recording = Recording::open(directory).map_err(|e| format!("failed to {e}"))?;
        let mut shown = Shown::default();
        for process in &recording.processes {
            let loaded = LoadedProcess::load(&recording, process, &Options::default())
                .map_err(|e| format!("failed to {e}"))?;
            // Those of the C++ library lead up and down again.
            let path = |module: u32, file: u32| {
                let path = loaded.image.module(module).file_path(file);
                std::fs::canonicalize(&path).map_or(path, |real| real.display().to_string())
            };
            for stream in &loaded.streams {
                let mut machine = Machine::new(&loaded.image, &stream.stream);
                let mut eye = Eye { wanted, seen: 0, lines: HashSet::new(), steps: Vec::new() };
                machine.run(&mut eye, MOST_STEPS).map_err(|e| format!("failed to {e}"))?;
                shown.is_cut |= eye.seen >= MOST_STEPS;
                // A crash ends in the middle of its instruction, and of the calls around.
                if let Some(view) = machine.view() {
                    eye.look(&view);
                }
                for frame in machine.frames() {
                    let code = loaded.image.code(frame.function);
                    let module = loaded.image.module(code.module);
                    let place = module.functions[code.function as usize].place(frame.pc as usize);
                    eye.lines.insert((code.module, place.file, place.line));
                }
                for (module, file, line) in eye.lines {
                    shown.lines.entry(path(module, file)).or_default().insert(line);
                }
                for (step, module, file, line, held) in eye.steps {
                    shown.steps.entry(step).or_default().push((path(module, file), line, held));
                }
            }
        }
        Ok(shown)
    }

    /// The path of a file of the version, if any of it ran.
    fn path(&self, file: &str) -> Option<&String> {
        let is_it = |path: &&String| **path == file || path.ends_with(&format!("/{file}"));
        self.lines.keys().find(is_it)
    }

    fn ran(&self, file: &str, line: u32) -> bool {
        self.is_cut || self.certainly_ran(file, line)
    }

    fn certainly_ran(&self, file: &str, line: u32) -> bool {
        self.path(file).is_some_and(|path| self.lines[path].contains(&line))
    }

    /// The only line of a file that reads like this.
    fn only_line(&self, file: &str, text: &str) -> Option<u32> {
        let source = std::fs::read_to_string(self.path(file)?).ok()?;
        let mut alike = (1..).zip(source.lines()).filter(|(_, line)| line.trim() == text.trim());
        let (line, _) = alike.next()?;
        alike.next().is_none().then_some(line)
    }
}

/// All causes, from the failure on.
pub fn causes(answer: &Value) -> Vec<&Value> {
    let mut all: Vec<&Value> = answer["causes"].as_array().into_iter().flatten().collect();
    let mut at = 0;
    while at < all.len() {
        let below = all[at]["children"].as_array();
        all.extend(below.into_iter().flatten());
        at += 1;
    }
    all
}

fn place(value: &Value) -> Option<(&str, u32, &str)> {
    let line = u32::try_from(value["line"].as_u64()?).ok()?;
    Some((value["file"].as_str()?, line, value["text"].as_str()?))
}

/// Says what of the causes is not so.
pub fn audit(answer: &Value) -> Result<(), String> {
    let (name, reference) =
        if answer["fixed"].is_object() { ("fixed", &answer["fixed"]) } else { ("good", &answer["good"]) };
    let recording = |version: &Value| version["recording"].as_str().map(str::to_owned);
    let (Some(reference), Some(bad)) = (recording(reference), recording(&answer["bad"])) else {
        return Ok(());
    };
    let causes = causes(answer);
    let wanted: HashSet<u64> = causes.iter().filter_map(|cause| cause["step"].as_u64()).collect();
    let reference = Shown::read(Path::new(&reference), &wanted)?;
    let mut wrong = links::audit(Path::new(&bad), &causes)?;
    wrong.extend(values::audit(Path::new(&bad), &causes)?);
    let bad = Shown::read(Path::new(&bad), &wanted)?;
    for cause in causes {
        let what = cause["what"].as_str().unwrap_or_default();
        let mut say = |why: String| wrong.push(format!("cause {}: {why} ({what})", cause["id"]));
        let (here, there) = (place(&cause["place"]), place(&cause["good_place"]));
        for (version, shown, place) in [("bad", &bad, here), (name, &reference, there)] {
            if let Some((file, line, _)) = place
                && !shown.ran(file, line)
            {
                say(format!("{version} did not run {file}:{line}"));
            }
        }
        let absent = [
            (format!("{name} does not have this line"), &bad, &reference, here),
            (format!("{name} did not run this line"), &bad, &reference, here),
            ("bad does not have this line".to_owned(), &reference, &bad, there),
            (format!("{name} ran this, bad did not"), &reference, &bad, there),
        ];
        let says = |sentence: &str| what.rsplit("; ").next() == Some(sentence);
        for (sentence, own, other, place) in absent {
            // Where a version has the line twice, the other's may be the counterpart of either.
            if let Some((file, _, text)) = place.filter(|_| says(&sentence))
                && own.only_line(file, text).is_some()
                && other.only_line(file, text).is_some_and(|line| other.certainly_ran(file, line))
            {
                say(format!("the other version ran `{}`", text.trim()));
            }
        }
        if let Some((file, _, text)) =
            here.filter(|_| says(&format!("{name} ran this line, but not at this moment")))
            && reference.only_line(file, text).is_some_and(|line| !reference.ran(file, line))
        {
            say(format!("{name} did not run `{}`", text.trim()));
        }
        let own = what.split("; ").next().and_then(|own| own.split(", ").next()).unwrap_or_default();
        let held =
            own.strip_suffix(" was true").map(|_| true).or(own.strip_suffix(" was false").map(|_| false));
        // `!x` holds where `x != 0`, which was computed, does not.
        let computed = cause["formula"].as_str().filter(|computed| !what.contains(*computed));
        let is_turned = computed.is_some_and(|c| c.ends_with(" != 0")) && own.starts_with("`!")
            || computed.is_some_and(|c| c.ends_with(" == 0")) && !own.starts_with("`!");
        let held = held.map(|held| held != is_turned);
        if let (Some(held), Some((file, line, _)), Some(step)) = (held, here, cause["step"].as_u64()) {
            let seen = bad.steps.get(&step).into_iter().flatten();
            let mut seen = seen.filter(|(path, at, _)| path.ends_with(file) && *at == line).peekable();
            if seen.peek().is_some() && !seen.any(|(.., branch)| branch.is_none_or(|branch| branch == held)) {
                say(format!("the condition at {file}:{line} was {}", !held));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("these facts do not hold:\n  {}", wrong.join("\n  "))) }
}
