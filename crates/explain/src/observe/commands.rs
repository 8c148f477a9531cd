//! Output of programs that are not recorded: finds the first command that the runs started differently.

use super::ends::stack_at;
use super::scene::Scene;
use super::{Error, Observed};
use slice::started::StartedProgram;
use slice::{Slicer, SlicerOptions};

/// The first call that started a program with another command than in good. `summary` describes the
/// difference of the output.
pub(super) fn command(scene: &Scene<'_>, summary: &str) -> Result<Option<Observed>, Error> {
    for bad in 0..scene.bad.len() {
        let Some(good) = scene.partner(bad) else { continue };
        // For a process that does not replay to its end, no started programs are known.
        let started = |process| {
            Slicer::new(process, SlicerOptions::default())
                .started()
                .unwrap_or_else(|_| Vec::<StartedProgram>::new())
        };
        let ours = started(&scene.bad[bad].loaded);
        let theirs = started(&scene.good[good].loaded);
        let differs = |pair: &(&StartedProgram, &StartedProgram)| pair.0.command != pair.1.command;
        let Some((ours, theirs)) = ours.iter().zip(&theirs).find(differs) else { continue };
        let frames = stack_at(&scene.bad[bad].loaded, ours.criterion.at)?;
        let mut observed = scene.observed("output", bad, &frames);
        let [in_bad, in_good] = [ours, theirs].map(|s| replay::vars::quoted(&s.command.join(" ")));
        observed.observation.summary = format!(
            "{summary}; written by a program that is not recorded and that `{}` started with {in_bad}, in good with {in_good},",
            ours.function
        );
        Scene::ask(&mut observed, vec![ours.criterion.clone()]);
        scene.ask_good(&mut observed, good, vec![theirs.criterion.clone()])?;
        return Ok(Some(observed));
    }
    Ok(None)
}
