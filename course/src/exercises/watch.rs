//! `watch`: a check whenever a learner's file is saved.
//!
//! The files are looked at a few times a second. There are few of them, and it works on every system and file system.

use crate::exercises::{Learner, catalogue, report, say};
use exercises_protocol::Exercise;
use std::convert::Infallible;
use std::thread;
use std::time::{Duration, SystemTime};

/// How often to look. Less than anybody notices.
const EVERY: Duration = Duration::from_millis(200);

/// What tells one state of a file from another. None if it isn't there, as for a moment when some editors save.
type Stamp = Option<(SystemTime, u64)>;

impl Learner {
    /// `watch`: checks one exercise now and whenever its file changes; without a name, whichever changes. Ends when the
    /// process is ended.
    ///
    /// # Errors
    /// If there is no such exercise.
    pub fn watch(&mut self, name: Option<&str>) -> anyhow::Result<Infallible> {
        let watched = match name {
            Some(name) => vec![catalogue::named(&self.exercises, name)?.clone()],
            None => self.exercises.clone(),
        };
        let first = if name.is_some() { watched[0].clone() } else { self.current().clone() };
        let mut stamps: Vec<Stamp> = watched.iter().map(stamp).collect();
        self.check_and_show(&first);
        loop {
            thread::sleep(EVERY);
            for (exercise, seen) in watched.iter().zip(&mut stamps) {
                let now = stamp(exercise);
                if now.is_some() && now != *seen {
                    // Taken before the check: what is saved during it is checked next.
                    *seen = now;
                    self.check_and_show(exercise);
                }
            }
        }
    }

    fn check_and_show(&mut self, exercise: &Exercise) {
        if self.style.on() {
            say("\x1b[2J\x1b[H"); // a clear screen, so that nobody reads the last verdict
        }
        let report = self.check_one(exercise, false);
        say(&report::text(&self.workspace, exercise, &report, false, self.style));
        let file = self.workspace.relative(&exercise.answer());
        say(&format!("\nWatching; save {file} to check again. Ctrl-C ends it.\n"));
    }
}

fn stamp(exercise: &Exercise) -> Stamp {
    let metadata = exercise.answer().metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
