//! `book record`: runs the commands whose output the book shows, and writes their output to files.
//!
//! If a program prints the time, two recordings of it always differ. So each recording has a *core*: its
//! text without times, dates, ports and the numbers of pool threads, and without the parts that the recipe
//! excludes. A transcript whose core has not changed is kept. So recording changes no file without need,
//! and `--check` compares only cores.
//!
//! The command `book record` is a tool for authors of the book, on Unix.

use crate::book::breaks;
use crate::book::recipes::{Equal, Picture, Recipes, Run, Server};
use crate::book::running::Runner;
use crate::copy::Copy;
use crate::exercises::catalogue;
use crate::workspace::Workspace;
use anyhow::{Context, ensure};
use regex::Regex;
use std::fs;
use std::path::PathBuf;

/// Records the named transcripts, or all transcripts. Returns whether all recordings succeeded;
/// with `check`, returns whether no transcript would change. Measurements are checked only if they
/// are named.
///
/// # Errors
/// Returns an error if a command cannot be run or fails, or if a file cannot be written.
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
            recorder.record_run(run).with_context(|| run.command.clone())?;
        }
        for server in recipes.server.iter().filter(|server| due(server.measured)) {
            if server.files().any(|(file, _)| wanted(file)) {
                recorder.record_server(server, &wanted).with_context(|| server.command.clone())?;
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
    fn record_run(&mut self, run: &Run) -> anyhow::Result<()> {
        let copy = self.copy(run.breaks.as_deref(), run.answer.as_deref())?;
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
        let copy = self.copy(server.breaks.as_deref(), None)?;
        let runner = Runner::in_project(copy.as_ref().map_or(self.workspace, Copy::workspace));
        for (file, text, equal) in runner.serve(server)?.into_iter().filter(|(file, ..)| wanted(file)) {
            self.keep(file, &text, equal)?;
        }
        Ok(())
    }

    /// Returns the copy of the project in which the commands of a recipe run, if it needs one.
    fn copy(&self, broken: Option<&str>, answer: Option<&str>) -> anyhow::Result<Option<Copy>> {
        match (broken, answer) {
            (Some(experiment), _) => breaks::broken_copy(self.workspace, experiment, "record"),
            (None, Some(answer)) => copy_with_answer(self.workspace, answer).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Writes a recording if its core differs from the core of the old recording. With `check`, the
    /// function only reports the difference.
    fn keep(&mut self, file: &str, text: &str, equal: &Equal) -> anyhow::Result<Kept> {
        ensure!(!text.trim().is_empty(), "{file}: nothing was printed; does the command work?");
        let text = format!("{}\n", text.trim_end());
        for expected in &equal.with {
            if !Regex::new(expected)?.is_match(&text) {
                self.all_well = false;
                println!("{file}: what is printed does not match `{expected}`:\n{text}");
                return Ok(Kept::Before);
            }
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

/// Which recording is kept, the old or the new one.
enum Kept {
    /// The old recording is kept, if there is one.
    Before,
    Now,
}

/// Returns the core of a recording: the part in which two recordings must agree.
fn core(text: &str, equal: &Equal) -> anyhow::Result<String> {
    let mut core = text.to_owned();
    for (pattern, what) in [
        (r"\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT", "<date>"),
        (r"\d+\.\d+ ?(s|ms|µs)\b", "<time>"),
        (r"127\.0\.0\.1:\d+", "<address>"),
        (r"pool-\d+-thread-\d+", "<thread>"),
        (r"(thread '[^']*') \(\d+\) panicked", "$1 panicked"),
        (r"\d+ filtered out", "<others> filtered out"),
    ] {
        core = Regex::new(pattern).expect("a valid expression").replace_all(&core, what).into_owned();
    }
    for pattern in &equal.but {
        core = Regex::new(pattern)?.replace_all(&core, "<…>").into_owned();
    }
    let mut lines: Vec<&str> = core.trim_end().lines().map(str::trim_end).collect();
    if equal.unordered {
        lines.sort_unstable();
    }
    Ok(lines.join("\n"))
}

/// Returns a copy of the project in which the learner's answer to an exercise is replaced by a wrong answer
/// (`exNN m01_x`).
fn copy_with_answer(workspace: &Workspace, answer: &str) -> anyhow::Result<Copy> {
    let copy = Copy::of(workspace, "record")?;
    let (exercise, wrong) =
        answer.split_once(' ').with_context(|| format!("{answer:?} is no `exNN m01_x`"))?;
    let exercises = catalogue::all(copy.workspace())?;
    let exercise = catalogue::named(&exercises, exercise)?;
    fs::write(exercise.answer(), exercise.wrong_answer(exercise.wrong(wrong)?)?)?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_dates_ports_and_thread_numbers_may_differ_and_nothing_else() {
        let line = |date: &str, time: &str, thread: u32| {
            format!(
                "127.0.0.1:{thread} [{date}] \"GET /hello HTTP/1.1\" 200 13 {time} pool-1-thread-{thread}\n"
            )
        };
        let one = line("Sat, 21 Nov 2026 22:58:05 GMT", "2000.3ms", 1);
        let other = line("Sun, 22 Nov 2026 09:00:00 GMT", "1.9 s", 2);
        let core = |text: &str| core(text, &Equal::default()).unwrap();
        assert_eq!(core(&one), core(&other));
        assert_ne!(core(&one), core(&other.replace("200", "503")));
        assert_ne!(core("2000 ms"), core("2001 ms")); // not a measured time
    }

    #[test]
    fn a_recipe_may_allow_more() {
        let equal = |unordered, but: &str| Equal { unordered, but: vec![but.into()], with: Vec::new() };
        assert_eq!(
            core("b 7\na 8\n", &equal(true, r"\d")).unwrap(),
            core("a 1\nb 2\n", &equal(true, r"\d")).unwrap()
        );
        assert_ne!(core("b\na\n", &equal(false, "x")).unwrap(), core("a\nb\n", &equal(false, "x")).unwrap());
    }
}
