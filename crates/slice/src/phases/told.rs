//! Levels as plain data, for display.

use super::divide::PhaseKind;
use super::{Level, Phase, Phased};
use crate::Result;
use crate::slice::NodeId;
use crate::snapshot::{Named, Snapshot};
use replay::vars::Limits;
use serde::{Deserialize, Serialize};

/// At most so many variables are recorded per place.
const VARIABLES: usize = 24;

/// A level, ready for display.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelSummary {
    /// The function whose code is divided.
    pub function: String,
    /// In the order of the run; flows have indices into this list.
    pub phases: Vec<PhaseSummary>,
    /// In the order in which they were produced.
    pub flows: Vec<FlowSummary>,
}

/// A phase, ready for display.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseSummary {
    /// `loop`, `call`, `round`, `rounds` or `statements`.
    pub kind: String,
    /// For a call the callee, for iterations their numbers.
    pub name: Option<String>,
    /// Path of the source file.
    pub file: String,
    /// The first line of its own code that ran; 0 if unknown.
    pub first_line: u32,
    /// The last line, inclusive.
    pub last_line: u32,
    /// Number of executed instructions, with those of callees.
    pub instructions: u64,
    /// It contains the queried node.
    pub asked: bool,
}

/// A dependence of phases on another phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowSummary {
    /// The execution that produced the value or decided.
    #[serde(flatten)]
    pub place: LineSummary,
    /// `value` or `decision`.
    pub kind: String,
    /// The variable, or the callee; `None` if the value has no name.
    pub name: Option<String>,
    /// The value as text; of a decision `true` or `false`; `None` if it is not known.
    pub value: Option<String>,
    /// Index of the producing phase.
    pub made_in: usize,
    /// Indices of the using phases, in ascending order.
    pub used_in: Vec<usize>,
}

/// One execution of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineSummary {
    /// Path of the source file; empty if unknown.
    pub file: String,
    /// Line from 1; 0 if unknown.
    pub line: u32,
    /// Name of the function.
    pub function: String,
    /// Parameters and locals just before it.
    pub variables: Vec<VariableValue>,
}

/// A variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableValue {
    /// Name in the source.
    pub name: String,
    /// The value as text.
    pub value: String,
}

impl PhaseSummary {
    /// `loop, lines 3 to 9`
    #[must_use]
    pub fn title(&self) -> String {
        let name = self.name.as_ref().map(|n| format!(" {n}")).unwrap_or_default();
        let lines = match (self.first_line, self.last_line) {
            (0, _) => String::new(),
            (a, b) if a == b => format!(", line {a}"),
            (a, b) => format!(", lines {a} to {b}"),
        };
        format!("{}{name}{lines}", self.kind)
    }
}

impl FlowSummary {
    /// `sum = 3`, or `decided: true`
    #[must_use]
    pub fn title(&self) -> String {
        let what = match (&self.name, &self.value) {
            (Some(name), Some(value)) => format!("{name} = {value}"),
            (Some(name), None) => name.clone(),
            (None, Some(value)) => value.clone(),
            (None, None) => String::new(),
        };
        match (self.kind == "decision", what.is_empty()) {
            (true, true) => "decided".to_owned(),
            (true, false) => format!("decided: {what}"),
            (false, _) => what,
        }
    }
}

impl LevelSummary {
    /// Replaces the names of all files.
    #[must_use]
    pub fn renamed(mut self, name: impl Fn(&str) -> String) -> LevelSummary {
        for phase in &mut self.phases {
            phase.file = name(&phase.file);
        }
        for flow in &mut self.flows {
            flow.place.file = name(&flow.place.file);
        }
        self
    }
}

impl Phased<'_, '_> {
    /// A level, ready for display. Replays to each of its flows.
    ///
    /// # Errors
    /// If replay fails.
    pub fn tell(&self, level: &Level) -> Result<LevelSummary> {
        let at: Vec<_> = level.flows.iter().map(|f| self.slice.nodes[f.node as usize].at).collect();
        let shots = self.slicer.values(&at, Limits::default())?;
        let flows = level.flows.iter().zip(shots).map(|(flow, shot)| {
            let decides = flow.how.is_control_dependence();
            let branch = shot.branch.map(|taken| if taken { "true" } else { "false" }.to_owned());
            let place = place(&shot);
            let (name, value) = match shot.result {
                _ if decides => (shot.callee, branch),
                Some(result) => (result.name, Some(result.value)),
                None => (shot.callee.map(|c| format!("arguments of {c}")), branch),
            };
            FlowSummary {
                place,
                kind: if decides { "decision" } else { "value" }.to_owned(),
                name,
                value,
                made_in: flow.made_in,
                used_in: flow.used_in.clone(),
            }
        });
        let flows = flows.collect();
        let phases = level.phases.iter().enumerate().map(|(i, p)| phase(p, i == level.at)).collect();
        let function = level.phases.first().map(|p| p.function.clone()).unwrap_or_default();
        Ok(LevelSummary { function, phases, flows })
    }

    /// The line, and the variables, of a node's execution.
    ///
    /// # Errors
    /// If replay fails.
    pub fn summarise_line(&self, node: NodeId) -> Result<LineSummary> {
        let at = self.slice.nodes[node as usize].at;
        let shots = self.slicer.values(&[at], Limits::default())?;
        Ok(shots.first().map(place).unwrap_or_default())
    }
}

fn place(shot: &Snapshot) -> LineSummary {
    let told = |v: &Named| Some(VariableValue { name: v.name.clone()?, value: v.value.clone() });
    LineSummary {
        file: shot.place.file.clone(),
        line: shot.place.line,
        function: shot.place.function.clone(),
        variables: shot.variables.iter().filter_map(told).take(VARIABLES).collect(),
    }
}

fn phase(phase: &Phase, asked: bool) -> PhaseSummary {
    let (kind, name) = match &phase.kind {
        PhaseKind::Loop => ("loop", None),
        PhaseKind::Call { callee } => ("call", Some(callee.clone())),
        PhaseKind::Rounds { first, last } if first == last => ("round", Some(first.to_string())),
        PhaseKind::Rounds { first, last } => ("rounds", Some(format!("{first} to {last}"))),
        PhaseKind::Statements => ("statements", None),
    };
    PhaseSummary {
        kind: kind.to_owned(),
        name,
        file: phase.file.clone(),
        first_line: phase.lines.0,
        last_line: phase.lines.1,
        instructions: phase.window.steps.end - phase.window.steps.start,
        asked,
    }
}
