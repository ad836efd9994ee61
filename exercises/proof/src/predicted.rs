//! Records the messages about the wrong answers for which learners predict the outcome.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use exercises_harness::isolate;
use exercises_protocol::{Kinds, Mode, ROUND, Shown, Terminal};

use crate::{DEADLINE, Job, built, folder};

/// Runs each of these wrong answers under the model, on the schedules of a learner's test. An answer that is
/// not built is left out. Returns, for each of these answers, the file and its message. `exe` is the program
/// that runs one job if it is called with `--run`.
///
/// # Errors
/// Returns an error if `kinds.toml` names something that does not exist, or if an answer is not rejected by
/// the expected property.
pub fn predicted(exe: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let (mut seen, built) = (Vec::new(), built()?);
    for predict in Kinds::read(&folder())?.predict {
        let Shown::Wrong { exercise, wrong } = &predict.code else { continue };
        let Some(exercise) = built.iter().find(|built| built.name.starts_with(exercise)) else { continue };
        let wrong = exercise.wrong(wrong)?;
        let (mode, properties) = (Mode::Model, wrong.property.as_str());
        let job = Job { mode, exercise: &exercise.name, answer: &wrong.name, properties, runs: None };
        let mut command = Command::new(exe);
        command.args(job.arguments()).env(ROUND, "0");
        let failure = isolate::in_child(command, properties, DEADLINE).err();
        let failure = failure.with_context(|| format!("{}: {} passes", predict.name, wrong.name))?;
        let path = folder().join(format!("seen/{}.txt", predict.name));
        seen.push((
            path,
            failure.message(properties, mode, &Terminal { width: 100, colour: false, ascii: false }),
        ));
    }
    Ok(seen)
}
