//! `watch`: checks an exercise each time that the learner saves its file. While `watch` runs in a terminal,
//! the user can give the other commands by pressing keys.
//!
//! The command checks the times of the files a few times a second. Polling is enough, because there are only
//! a few files, and polling works on every system and file system.

use crate::exercises::keys::{Key, Keys};
use crate::exercises::{Learner, catalogue, report, say};
use exercises_protocol::Exercise;
use std::thread;
use std::time::{Duration, SystemTime};

/// The interval between two checks of the files. A learner does not notice such a short delay.
const EVERY: Duration = Duration::from_millis(200);

/// Identifies the state of a file. The value is `None` if the file does not exist, for example for a moment
/// while an editor saves it.
type Stamp = Option<(SystemTime, u64)>;

/// An exercise, and the last known state of its file.
struct Watched {
    exercise: Exercise,
    seen: Stamp,
}

impl Watched {
    fn new(exercise: Exercise) -> Self {
        Self { seen: stamp(&exercise), exercise }
    }

    /// Returns whether the file was saved since the last call. The caller must call this function before a
    /// check, so that a change during the check leads to another check.
    fn was_saved(&mut self) -> bool {
        let now = stamp(&self.exercise);
        let saved = now.is_some() && now != self.seen;
        if saved {
            self.seen = now;
        }
        saved
    }
}

impl Learner {
    /// `watch`: checks one exercise now and whenever its file changes; without a name, checks every
    /// exercise whose file changes. The command ends when the learner presses `q`, or when a signal
    /// ends the process.
    ///
    /// # Errors
    /// Returns an error if there is no such exercise.
    pub fn watch(&mut self, name: Option<&str>) -> anyhow::Result<bool> {
        let mut current = match name {
            Some(name) => catalogue::named(&self.exercises, name)?.clone(),
            None => self.current().clone(),
        };
        let all = if name.is_some() { vec![current.clone()] } else { self.exercises.clone() };
        let mut watched: Vec<Watched> = all.into_iter().map(Watched::new).collect();
        let keys = Keys::listen();
        self.check_and_show(&current, keys.is_some());
        loop {
            match wait(keys.as_ref()) {
                Some(Key::Quit) => return Ok(true),
                Some(Key::Again) => self.check_and_show(&current, keys.is_some()),
                Some(Key::Hint) => {
                    self.hint(Some(&current.name), None)?;
                    self.say_how_to_go_on(&current, keys.is_some());
                }
                Some(Key::List) => {
                    self.list(false)?;
                    self.say_how_to_go_on(&current, keys.is_some());
                }
                Some(Key::Next) => {
                    if let Some(next) = self.unsolved_after(&current).cloned() {
                        self.introduce(&next);
                        if name.is_some() {
                            watched = vec![Watched::new(next.clone())];
                        }
                        current = next;
                    } else {
                        say("No other exercise is left to solve.\n");
                    }
                    self.say_how_to_go_on(&current, keys.is_some());
                }
                None => {}
            }
            if let Some(saved) = watched.iter_mut().find_map(|one| one.was_saved().then_some(&one.exercise)) {
                current = saved.clone();
                self.check_and_show(&current, keys.is_some());
            }
        }
    }

    /// Returns the next unsolved exercise in the order of the course; after the last exercise, the search
    /// starts again at the first.
    fn unsolved_after(&self, current: &Exercise) -> Option<&Exercise> {
        let here = self.exercises.iter().position(|exercise| exercise.name == current.name)?;
        let (before, after) = (&self.exercises[..here], &self.exercises[here + 1..]);
        after.iter().chain(before).find(|exercise| !self.progress.is_solved(exercise))
    }

    fn check_and_show(&mut self, exercise: &Exercise, has_keys: bool) {
        if self.style.on() {
            say("\x1b[2J\x1b[H"); // clears the screen, so that the learner does not read the old verdict
        }
        let report = self.check_one(exercise, false);
        say(&report::text(&self.workspace, exercise, &report, false, self.style));
        self.say_how_to_go_on(exercise, has_keys);
    }

    fn say_how_to_go_on(&self, exercise: &Exercise, has_keys: bool) {
        let file = self.workspace.relative(&exercise.answer());
        let keys = match (has_keys, cfg!(unix)) {
            (false, _) => "Ctrl-C ends it.",
            (true, true) => "Keys: h hint, l list, n next exercise, q quit; Enter checks again.",
            (true, false) => {
                "Type h hint, l list, n next exercise, q quit, and Enter; Enter alone checks again."
            }
        };
        say(&format!("\nWatching; save {file} to check again. {keys}\n"));
    }
}

/// Waits for a key until it is time to check the files again.
fn wait(keys: Option<&Keys>) -> Option<Key> {
    if let Some(keys) = keys {
        return keys.within(EVERY);
    }
    thread::sleep(EVERY);
    None
}

fn stamp(exercise: &Exercise) -> Stamp {
    let metadata = exercise.answer().metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
