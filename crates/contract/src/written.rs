//! The functions to check, and the sources of their contracts: comments before functions of bad, a file, and
//! functions that may not change.

use crate::answer::FunctionAnswer;
use crate::checking::{Both, Checked, Checking};
use crate::error::{Error, Result};
use crate::find::in_comments;
use crate::globals::{self, Uses};
use crate::language::{Contract, Place, Source};
use crate::state::{Root, RootKind};
use crate::version::{ObservedFunction, Version};
use explain::align::Side;
use expression::ast::ExprKind;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A function's name, its contract, and the functions of good and bad with this name.
pub(crate) type Function<'m> = (String, Contract, [Vec<ObservedFunction<'m>>; 2]);

impl Checking<'_> {
    /// Functions with their contracts, and their versions in good and bad.
    pub(crate) fn targets<'m>(&mut self, both: &Both<'_, 'm>, uses: &[Uses; 2]) -> Result<Vec<Function<'m>>> {
        let [good, bad] = both.versions;
        let (ours, theirs) = (good.functions(), bad.functions());
        let mut wanted: BTreeMap<String, (Contract, bool)> = BTreeMap::new();
        for (name, contract) in self.commented(both, &theirs)? {
            wanted.insert(name, (contract, true));
        }
        let of_file: Vec<(String, Contract)> = self.wanted.contracts.clone();
        let named = self.wanted.unchanged.clone().unwrap_or_default();
        let nothing = |name: &str| {
            let source = Arc::new(Source { file: "--unchanged".to_owned(), text: name.to_owned() });
            Contract::unchanged(Place { source, start: 0, end: name.len() })
        };
        let asked = of_file.into_iter().map(|(n, c)| (n, c, true));
        for (name, contract, is_written) in asked.chain(named.iter().map(|n| (n.clone(), nothing(n), false)))
        {
            match bad.named(&name, "bad") {
                Ok(found) => {
                    for w in found {
                        let name = program::names::readable(&w.function.name).into_owned();
                        wanted.entry(name).or_insert_with(|| (contract.clone(), is_written));
                    }
                }
                Err(error) => self.missing.push(error),
            }
        }
        if self.wanted.unchanged.as_ref().is_some_and(Vec::is_empty) {
            for (side, functions) in [(0, &ours), (1, &theirs)] {
                for (name, all) in
                    functions.iter().filter(|(_, all)| all.iter().all(|w| is_own(both, side, w)))
                {
                    let calls: u64 = all.iter().map(|w| globals::of(&uses[side], w).calls).sum();
                    *self.calls[side].entry(name.clone()).or_default() += calls;
                }
            }
            for (name, all) in &theirs {
                let is_called = |side: usize, all: &[ObservedFunction<'_>]| {
                    all.iter().any(|w| is_own(both, side, w) && globals::of(&uses[side], w).calls > 0)
                };
                if is_called(1, all) && ours.get(name).is_some_and(|all| is_called(0, all)) {
                    wanted.entry(name.clone()).or_insert_with(|| (nothing(name), false));
                }
            }
        }
        let mut targets = Vec::new();
        for (name, (contract, is_written)) in wanted {
            let in_bad = theirs.get(&name).cloned().unwrap_or_default();
            let place = in_bad.first().map(|w| {
                let file = both.lines.relative(Side::Bad, &w.model.file_path(w.function.file));
                let own = w.function.places.iter().filter(|place| place.file == w.function.file);
                (file, w.function.line..=own.map(|place| place.line).max().unwrap_or(w.function.line))
            });
            let checked = self.functions.entry(name.clone()).or_insert_with(|| Checked {
                applied: vec![0; contract.cases.len()],
                answer: FunctionAnswer {
                    name: name.clone(),
                    contract: is_written.then(|| contract.place.to_string()),
                    ..FunctionAnswer::default()
                },
                contract: contract.clone(),
                is_written,
                place: None,
                steps: Vec::new(),
            });
            checked.answer.place =
                place.as_ref().map(|(file, lines)| format!("{file}:{}", lines.start())).unwrap_or_default();
            checked.place = place;
            let in_good = match ours.get(&name) {
                Some(all) => all.clone(),
                None => match good.named(&name, "good") {
                    Ok(all) => all,
                    Err(error) => {
                        self.missing.push(error);
                        continue;
                    }
                },
            };
            let contract = checked.contract.clone();
            targets.push((name, contract, [in_good, in_bad]));
        }
        Ok(targets)
    }

    /// Contracts in the comments before functions of bad.
    fn commented(
        &mut self,
        both: &Both<'_, '_>,
        functions: &BTreeMap<String, Vec<ObservedFunction<'_>>>,
    ) -> Result<Vec<(String, Contract)>> {
        // By the hash of each file at compilation.
        let mut by_file: BTreeMap<(String, u64), Vec<(u32, &str)>> = BTreeMap::new();
        for (name, all) in functions {
            for w in all.iter().filter(|w| is_own(both, 1, w)) {
                let path = w.model.file_path(w.function.file);
                let hash = w.model.file_hashes.get(w.function.file as usize).copied().unwrap_or(0);
                by_file.entry((path, hash)).or_default().push((w.function.line, name));
            }
        }
        let mut found = Vec::new();
        for ((path, hash), functions) in by_file {
            let commented = match self.sources.get(&path) {
                Some(known) => known.clone(),
                None => {
                    let bytes = std::fs::read(&path).unwrap_or_default();
                    let file = both.lines.relative(Side::Bad, &path);
                    if hash != 0 && program::model::source_hash(&bytes) != hash {
                        self.notes.push(format!(
                            "{file} is not as it was when bad was compiled: contracts in it were not read."
                        ));
                        self.sources.insert(path, Arc::default());
                        continue;
                    }
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let contracts = Arc::new(in_comments(&Arc::new(Source { file, text }))?);
                    self.sources.insert(path, contracts.clone());
                    contracts
                }
            };
            for c in commented.iter() {
                let Some((_, name)) = functions.iter().find(|(line, _)| c.lines.contains(line)) else {
                    let module = both.versions[1].modules.iter().flat_map(|m| &m.opaque);
                    let text = c.contract.place.source.text.lines().skip(*c.lines.start() as usize - 1);
                    let head: String = text
                        .take((c.lines.end() - c.lines.start() + 1) as usize)
                        .collect::<Vec<_>>()
                        .join(" ");
                    let opaque = module
                        .into_iter()
                        .find(|o| head.contains(&format!("{}(", program::names::readable(&o.name))));
                    if let Some(opaque) = opaque {
                        let (name, reason) = (opaque.name.clone(), opaque.reason.clone());
                        return Err(Error::Opaque { name, version: "bad", reason });
                    }
                    self.missing.push(Error::NoFunctionFollows { place: c.contract.place.clone() });
                    continue;
                };
                found.push(((*name).to_owned(), c.contract.clone()));
            }
        }
        Ok(found)
    }
}

/// Whether a function is in a file of the version.
fn is_own(both: &Both<'_, '_>, side: usize, watched: &ObservedFunction<'_>) -> bool {
    let path = watched.model.file_path(watched.function.file);
    let relative = both.lines.relative([Side::Good, Side::Bad][side], &path);
    !Path::new(&relative).is_absolute()
}

/// A global variable as a root of states.
pub(crate) fn root<'m>(version: &Version<'m>, name: &str) -> Option<Root<'m>> {
    let global = &version.globals[version.global(name)?];
    Some(Root {
        kind: RootKind::Global,
        name: name.to_owned(),
        ty: global.ty.clone(),
        address: global.address,
    })
}

/// Names that a contract mentions, also in the form of static variables of the function.
pub(crate) fn mentioned(contract: &Contract, function: &str) -> Vec<String> {
    let mut names = Vec::new();
    for predicate in contract.predicates() {
        let mut todo = vec![&predicate.expression.root];
        while let Some(e) = todo.pop() {
            match &e.kind {
                ExprKind::Name(name) => {
                    names.push(name.clone());
                    names.push(format!("{function}.{name}"));
                }
                ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::SizeOf(a) => todo.push(a),
                ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => todo.extend([&**a, &**b]),
                ExprKind::Conditional(three) => todo.extend(three.iter()),
                ExprKind::Member { of, .. } => todo.push(of),
                ExprKind::Call(f, arguments) => {
                    todo.push(f);
                    todo.extend(arguments);
                }
                _ => {}
            }
        }
    }
    names
}
