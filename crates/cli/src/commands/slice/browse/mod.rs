//! `relapse slice … --phases` on a terminal: an interactive tree with the source next to it.
//!
//! * [`state`]: the tree; takes keys and returns commands;
//! * [`frame`]: the contents of the screen;
//! * [`terminal`]: the screen itself.

mod frame;
mod state;
mod terminal;
#[cfg(test)]
mod tests;

use super::{edges, failed};
use crate::failure::{Exit, Failure};
use crate::render::counted;
use crate::{Session, source};
use frame::Sources;
use slice::NodeId;
use slice::phases::told::{LevelSummary, LineSummary};
use slice::phases::{Level, Phased};
use state::{Answer, BrowserAction, State};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use terminal::{Input, Screen, listen};

/// The slice to browse.
pub struct Asked<'a, 's, 'p> {
    pub phased: &'a Phased<'s, 'p>,
    pub from: NodeId,
    pub question: String,
    /// Set by a signal.
    pub stop: &'a Arc<AtomicBool>,
}

/// Runs the browser, and prints the final selection afterwards.
pub fn run(session: &mut Session, asked: Asked<'_, '_, '_>) -> Result<Exit, Failure> {
    let Asked { phased, from, question, stop } = asked;
    let window = phased.whole(from).map_err(|e| failed(&e))?;
    let descent = phased.descend(window, from).map_err(|e| match e {
        slice::Error::Stopped => edges::incomplete(),
        other => failed(&other),
    })?;
    let Some(first) = descent.level else {
        let place = phased.summarise_line(from).map_err(|e| failed(&e))?;
        let place = source::place(&source::short(&place.file), place.line, &place.function);
        writeln!(session.out, "{question} is one statement: {place}.")?;
        return Ok(Exit::Done);
    };
    let mut sources = Sources::new();
    let told = tell(phased, &first, &mut sources)?;
    let mut walk = Browser {
        phased,
        state: State::new(question, phased.slice.nodes.len(), told, descent.passed.len()),
        levels: vec![first],
        sources,
    };
    let code = walk.through(session, stop)?;
    let state = &walk.state;
    if let Some(found) = state.found() {
        writeln!(
            session.out,
            "{} {}, in {}: {}, {}, {} of {} shown.",
            session.paint.good("It went wrong at"),
            source::place(&found.file, found.line, &found.function),
            found.function,
            counted(state.deepest as u64, "level"),
            counted(state.choices as u64, "choice"),
            state.shown(),
            counted(state.executions as u64, "execution"),
        )?;
    }
    Ok(code.map_or(Exit::Done, Exit::OfCommand))
}

/// The state, and the levels it was built from.
struct Browser<'a, 's, 'p> {
    phased: &'a Phased<'s, 'p>,
    state: State,
    /// In the order in which they were added to the state.
    levels: Vec<Level>,
    sources: Sources,
}

impl Browser<'_, '_, '_> {
    /// Runs until the user quits. Returns the exit code if a signal ended it.
    fn through(&mut self, session: &Session, stop: &Arc<AtomicBool>) -> Result<Option<u8>, Failure> {
        let busy = Arc::new(AtomicBool::new(false));
        let mut screen = Screen::take(session.paint)?;
        let inputs = listen(busy.clone(), stop.clone())?;
        loop {
            let (columns, rows) = screen.size();
            screen.show(&frame::draw(&self.state, &self.sources, columns, rows))?;
            match inputs.recv() {
                Ok(Input::Key(key)) => match self.state.press(key) {
                    BrowserAction::Nothing => {}
                    BrowserAction::Quit => return Ok(None),
                    BrowserAction::Open { level, flow } => {
                        // Set before the message is shown: a user who reads the message may interrupt
                        // immediately.
                        busy.store(true, Ordering::Relaxed);
                        self.state.message = Some("replaying…".to_owned());
                        screen.show(&frame::draw(&self.state, &self.sources, columns, rows))?;
                        self.state.message = None;
                        let answer = self.open(level, flow);
                        // The interrupt applied to this level only.
                        stop.store(false, Ordering::Relaxed);
                        busy.store(false, Ordering::Relaxed);
                        match answer {
                            Ok(answer) => self.state.opened(answer),
                            Err(slice::Error::Stopped) => {
                                self.state.refused("stopped; nothing was opened".to_owned());
                            }
                            Err(error) => self.state.refused(format!("failed to {error}")),
                        }
                    }
                },
                Ok(Input::Resized) => {}
                Ok(Input::Ended(code)) => return Ok(Some(code)),
                Err(_) => return Ok(None),
            }
        }
    }

    fn open(&mut self, level: usize, flow: Option<usize>) -> slice::Result<Answer> {
        let level = &self.levels[level];
        let wrong = flow.and_then(|f| level.flows.get(f));
        let Some((window, node)) = self.phased.into_phase(level, wrong) else {
            return Ok(Answer::End { place: LineSummary::default(), passed: 0 });
        };
        let descent = self.phased.descend(window, node)?;
        let passed = descent.passed.len();
        Ok(match descent.level {
            Some(level) => {
                let told = self.phased.tell(&level)?.renamed(source::short);
                remember(&told, &mut self.sources);
                self.levels.push(level);
                Answer::Level { told, passed }
            }
            None => {
                let mut place = self.phased.summarise_line(node)?;
                place.file = source::short(&place.file);
                read(&place.file, &mut self.sources);
                Answer::End { place, passed }
            }
        })
    }
}

fn tell(phased: &Phased<'_, '_>, level: &Level, sources: &mut Sources) -> Result<LevelSummary, Failure> {
    let told = phased.tell(level).map_err(|e| failed(&e))?.renamed(source::short);
    remember(&told, sources);
    Ok(told)
}

/// Reads the source files of a level.
fn remember(told: &LevelSummary, sources: &mut Sources) {
    let files = told.phases.iter().map(|p| &p.file).chain(told.flows.iter().map(|f| &f.place.file));
    for file in files {
        read(file, sources);
    }
}

fn read(file: &str, sources: &mut Sources) {
    if !sources.contains_key(file)
        && let Ok(text) = std::fs::read(file)
    {
        let lines = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
        sources.insert(file.to_owned(), lines);
    }
}
