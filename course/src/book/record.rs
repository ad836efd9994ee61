//! `book record`: runs the commands whose output the book shows, and writes their output to files.
//!
//! A transcript whose [core](super::equal) has not changed is kept. So the command `book record` changes no
//! file without need, and `--check` compares only cores.
//!
//! The command `book record` is a tool for authors of the book, on Unix.

use crate::book::breaks;
use crate::book::equal::{core, lacks};
use crate::book::recipes::{Equal, Picture, Recipes, Run, Server};
use crate::book::running::Runner;
use crate::copy::Copy;
use crate::workspace::Workspace;
use anyhow::{Context, ensure};
use std::fs;
use std::path::PathBuf;

/// Records the named transcripts, or all transcripts. Returns whether all recordings succeeded; with `check`,
/// returns whether all transcripts would stay the same. Measurements are checked only if they are named.
///
/// # Errors
/// Returns an error if a command cannot be run or fails, or if a file cannot be written. With `check`, the
/// function prints such an error and goes on.
pub fn record(workspace: &Workspace, files: &[String], check: bool) -> anyhow::Result<bool> {
    let sources = workspace.book().join("src");
    let all = Recipes::FOLDERS.map(|folder| Recipes::read(&sources, folder).map(|recipes| (folder, recipes)));
    let all: Vec<(&str, Recipes)> = all.into_iter().collect::<anyhow::Result<_>>()?;
    let is_known = |file: &str| all.iter().any(|(_, recipes)| recipes.products().any(|known| known == file));
    for file in files {
        ensure!(is_known(file), "record.toml names no transcript `{file}`");
    }
    let wanted = |file: &str| files.is_empty() || files.iter().any(|wanted| wanted == file);
    let due = |measured: bool| !(measured && check && files.is_empty());
    let mut all_well = true;
    for (folder, recipes) in &all {
        let mut recorder = Recorder { workspace, folder: sources.join(folder), check, all_well: true };
        for run in recipes.run.iter().filter(|run| due(run.measured) && run.products().any(wanted)) {
            let result = recorder.record_run(run).with_context(|| run.command.clone());
            recorder.go_on_after(result)?;
        }
        for server in recipes.server.iter().filter(|server| due(server.measured)) {
            if server.files().any(|(file, _)| wanted(file)) {
                let result = recorder.record_server(server, &wanted).with_context(|| server.command.clone());
                recorder.go_on_after(result)?;
            }
        }
        all_well &= recorder.all_well;
    }
    Ok(all_well)
}

struct Recorder<'a> {
    workspace: &'a Workspace,
    folder: PathBuf,
    check: bool,
    all_well: bool,
}

impl Recorder<'_> {
    /// With `check`, prints an error, so that the other recordings are checked, too.
    fn go_on_after(&mut self, result: anyhow::Result<()>) -> anyhow::Result<()> {
        match result {
            Err(error) if self.check => {
                self.all_well = false;
                println!("error: {error:#}");
                Ok(())
            }
            result => result,
        }
    }

    fn record_run(&mut self, run: &Run) -> anyhow::Result<()> {
        let copy = run.copy(self.workspace, "record")?;
        let place = copy.as_ref().map_or(self.workspace, Copy::workspace);
        let output = Runner::in_project(place).run(&run.command)?;
        let too_fast = run.speed_up.as_ref().map(|speed_up| speed_up.faults(&output)).unwrap_or_default();
        let kept = match &run.file {
            Some(file) if !too_fast.is_empty() => {
                self.all_well = false;
                println!("{file}: not kept. {}. It was printed:\n{output}", too_fast.join("; "));
                Some(Kept::Before)
            }
            Some(file) => Some(self.keep(file, &output, &run.equal)?),
            None => None,
        };
        if let Some(picture) = &run.picture {
            self.keep_picture(place, picture, kept)?;
        }
        Ok(())
    }

    fn record_server(&mut self, server: &Server, wanted: &dyn Fn(&str) -> bool) -> anyhow::Result<()> {
        let broken = |experiment: &String| breaks::broken_copy(self.workspace, experiment, "record");
        let copy = server.breaks.as_ref().map(broken).transpose()?.flatten();
        let runner = Runner::in_project(copy.as_ref().map_or(self.workspace, Copy::workspace));
        for (file, text, equal) in runner.serve(server)?.into_iter().filter(|(file, ..)| wanted(file)) {
            self.keep(file, &text, equal)?;
        }
        Ok(())
    }

    /// Writes a recording if its core differs from the core of the old recording. With `check`, the
    /// function only reports the difference.
    fn keep(&mut self, file: &str, text: &str, equal: &Equal) -> anyhow::Result<Kept> {
        ensure!(!text.trim().is_empty(), "{file}: nothing was printed; does the command work?");
        let text = format!("{}\n", text.trim_end());
        if let Some(expected) = lacks(&text, equal)?.first() {
            self.all_well = false;
            println!("{file}: what is printed does not match `{expected}`:\n{text}");
            return Ok(Kept::Before);
        }
        let path = self.folder.join(file);
        let before = fs::read_to_string(&path).unwrap_or_default();
        let (old, new) = (core(&before, equal)?, core(&text, equal)?);
        if old == new {
            println!("{file}: unchanged");
        } else if self.check {
            self.all_well = false;
            println!("{file}: differs from what is printed now.\n--- recorded\n{old}\n--- now\n{new}");
        } else {
            fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
            println!("{file}: recorded");
            return Ok(Kept::Now);
        }
        Ok(Kept::Before)
    }

    /// Keeps or replaces a picture of the book. A picture and its transcript show the same measurement, so
    /// the picture is kept if the transcript is kept.
    fn keep_picture(
        &mut self,
        place: &Workspace,
        picture: &Picture,
        transcript: Option<Kept>,
    ) -> anyhow::Result<()> {
        let from = place.target().join(&picture.from);
        let to = self.workspace.book().join("src").join(&picture.to);
        let drawn = fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
        let is_equal = |before| before == drawn || matches!(transcript, Some(Kept::Before));
        if fs::read(&to).is_ok_and(is_equal) {
            println!("{}: unchanged", picture.to);
        } else if self.check {
            self.all_well = false;
            println!("{}: differs from what is drawn now", picture.to);
        } else {
            fs::write(&to, drawn).with_context(|| format!("cannot write {}", to.display()))?;
            println!("{}: recorded", picture.to);
        }
        Ok(())
    }
}

/// Says which recording is kept: the old or the new one.
enum Kept {
    /// The old recording is kept, if there is one.
    Before,
    Now,
}
