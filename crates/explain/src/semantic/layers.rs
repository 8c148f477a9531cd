//! Causes of causes: the loop of AFTER.
//!
//! The first layer is the cause of the observed failure. The critical predicates of its instructions are the
//! questions of the next layer, and so on.

use super::cone::{Cone, MOST};
use super::facts::{Fact, facts};
use super::lift::Ground;
use super::why::{Solving, why};
use super::{Cause, NotApplicable, Question};
use crate::traced::Traced;
use crate::ways;
use program::inst::{Inst, Reg};
use slice::slice::Needs;
use slice::{Dependence, NodeId, Site};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;

/// The maximum number of layers.
const LAYERS: u32 = 7;
/// The maximum number of questions of a layer; for each branch its latest decision.
const QUESTIONS: usize = 24;

/// The instructions that are causes, and how many decisions away they are.
#[derive(Debug, Default)]
pub struct Layers {
    /// The causes with their layers, in the order in which they were found; the failure's own are in layer 0.
    pub causes: Vec<(u32, Cause)>,
    of: HashMap<NodeId, u32>,
    /// Number of questions without a cause, for which slices are used.
    pub left: usize,
    /// Why the first of these questions has no cause.
    pub reason: Option<NotApplicable>,
}

impl Layers {
    /// The layer of an instruction; `None` if it is no cause.
    #[must_use]
    pub fn of(&self, node: NodeId) -> Option<u32> {
        self.of.get(&node).copied()
    }

    fn add(&mut self, layer: u32, cause: Cause) {
        for node in &cause.generators {
            let known = self.of.entry(*node).or_insert(layer);
            *known = layer.min(*known);
        }
        self.causes.push((layer, cause));
    }
}

/// Answers the questions layer by layer until the time limit.
///
/// # Errors
/// If the first question has no answer.
pub fn layers(traced: &Traced<'_>, solving: &mut Solving) -> Result<Layers, NotApplicable> {
    let mut layers = Layers::default();
    let mut seen: HashSet<(Site, u32)> = HashSet::new();
    let mut questions = first(traced);
    let reaches = |node: NodeId, how: Dependence| ways::Ground::reaches(traced, node, how);
    for layer in 0..LAYERS {
        let mut generators: BTreeSet<NodeId> = BTreeSet::new();
        let asked: Vec<_> = questions.iter().map(|q| (*q, cone(traced, *q))).collect();
        // One replay for all questions of the layer.
        let scene = Scene::of(traced, asked.iter().filter_map(|(_, cone)| cone.as_ref().ok()));
        for (question, cone) in asked {
            if Instant::now() > solving.until {
                let none = layers.causes.is_empty();
                return if none { Err(layers.reason.unwrap_or(NotApplicable::Late)) } else { Ok(layers) };
            }
            match cone.and_then(|cone| why(&scene, question, &cone, &reaches, solving)) {
                Ok(cause) => {
                    generators.extend(&cause.generators);
                    layers.add(layer, cause);
                }
                Err(reason) => {
                    layers.left += 1;
                    // The branch itself stays in the chain, so that the next layer asks for the branches that
                    // control it.
                    generators.insert(question.node());
                    layers.reason.get_or_insert(reason);
                }
            }
        }
        if layer == 0 && layers.causes.is_empty() {
            return Err(layers.reason.unwrap_or(NotApplicable::Nothing));
        }
        let mut next: Vec<NodeId> = generators
            .iter()
            .flat_map(|node| deciders(traced, *node))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        next.retain(|node| {
            let at = traced.slice.nodes[*node as usize];
            seen.insert((at.site, at.depth))
        });
        next.truncate(QUESTIONS);
        questions = next.into_iter().map(Question::Decision).collect();
        if questions.is_empty() {
            break;
        }
    }
    Ok(layers)
}

/// The questions for the observed failure.
fn first(traced: &Traced<'_>) -> Vec<Question> {
    let mut questions = Vec::new();
    for node in traced.slice.criteria.iter().flatten().copied() {
        if super::cone::values(&traced.needs, node).next().is_some() {
            questions.push(Question::Values(node));
        }
        // The observation is that the node ran at all.
        if traced.free || questions.is_empty() {
            questions.extend(deciders(traced, node).map(Question::Decision));
        }
    }
    questions.sort_unstable();
    questions.dedup();
    questions
}

/// Branches that control a node, or could have changed its operands.
fn deciders<'t>(traced: &'t Traced<'_>, node: NodeId) -> impl Iterator<Item = NodeId> + 't {
    traced.needs.critical(node).filter(|decider| is_branch(traced, *decider))
}

fn is_branch(traced: &Traced<'_>, node: NodeId) -> bool {
    let inst = traced.inst(traced.slice.nodes[node as usize].site);
    matches!(inst, Inst::Branch { .. } | Inst::Switch { .. })
}

fn cone(traced: &Traced<'_>, question: Question) -> Result<Cone, NotApplicable> {
    let reaches = |node: NodeId, how: Dependence| ways::Ground::reaches(traced, node, how);
    Cone::of(&traced.needs, question, MOST, &|node| is_branch(traced, node), &reaches)
}

struct Scene<'t, 'p> {
    traced: &'t Traced<'p>,
    facts: HashMap<NodeId, Fact>,
}

impl<'t, 'p> Scene<'t, 'p> {
    /// With the facts of the instructions of these cones.
    fn of<'c>(traced: &'t Traced<'p>, cones: impl Iterator<Item = &'c Cone>) -> Scene<'t, 'p> {
        let nodes: BTreeSet<NodeId> = cones.flat_map(|cone| cone.nodes.iter().copied()).collect();
        let at: Vec<_> = nodes.iter().map(|n| (*n, traced.slice.nodes[*n as usize].at)).collect();
        Scene { traced, facts: facts(traced.process, &at) }
    }
}

impl Ground for Scene<'_, '_> {
    fn inst(&self, node: NodeId) -> &Inst {
        self.traced.inst(self.traced.slice.nodes[node as usize].site)
    }

    fn needs(&self) -> &Needs {
        &self.traced.needs
    }

    fn fact(&self, node: NodeId) -> Option<&Fact> {
        self.facts.get(&node)
    }

    fn argument(&self, node: NodeId, reg: Reg, call: NodeId) -> Option<usize> {
        let nodes = &self.traced.slice.nodes;
        let (node, call) = (nodes[node as usize], nodes[call as usize]);
        if call.depth >= node.depth {
            return None;
        }
        let module = self.traced.process.image.module(node.site.module);
        module.functions[node.site.function as usize].params.iter().position(|p| p.reg == reg)
    }
}
