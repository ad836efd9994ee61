//! The state of a run, which one press of a button starts: what its commands have printed so far, and how
//! they ended.
//!
//! The threads that read the output write to this state, and each poll of the page reads it. So no request
//! waits for a command.

use executor::CancelToken;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::mem;
use std::process::ChildStdin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The largest number of bytes of output that a run may print.
const MOST_BYTES: usize = 1 << 20;

/// The largest number of lines of output that a run may print; a browser would show more lines only slowly.
const MOST_LINES: usize = 10_000;

/// The largest number of lines that one poll returns.
const AT_A_TIME: usize = 1_000;

/// The number of lines of standard error that are kept; these are the last lines.
const LAST: usize = 20;

/// The commands that run after one press of a button.
pub(super) struct Run {
    state: Mutex<State>,
    /// The token is cancelled when the run must end before its commands have ended.
    pub(super) ending: CancelToken,
}

struct State {
    began: Instant,
    ended: Option<Duration>,
    /// The reason why the run ended before its commands had ended.
    cut_short: Option<String>,
    building: bool,
    parts: Vec<Part>,
    /// The lines of all commands in the order of their arrival, each with the number of its command.
    lines: Vec<(usize, String)>,
    bytes: usize,
    errors: VecDeque<String>,
    /// The last text on standard error that has no line end yet, such as a progress bar.
    progress: String,
    verdicts: Vec<Value>,
    /// The pipes to the guards of the commands that run. When a pipe is removed, it is closed, and then its
    /// guard kills the command.
    guards: BTreeMap<u32, ChildStdin>,
    /// Words of the output that are replaced, such as an address, each with the words that the book uses
    /// instead.
    names: Vec<(String, String)>,
}

struct Part {
    command: String,
    began: Instant,
    /// The exit status (or 128 and the number of a signal), and the time at which the command ended.
    ended: Option<(i32, Duration)>,
}

impl Run {
    pub(super) fn new() -> Self {
        let state = State {
            began: Instant::now(),
            ended: None,
            cut_short: None,
            building: false,
            parts: Vec::new(),
            lines: Vec::new(),
            bytes: 0,
            errors: VecDeque::new(),
            progress: String::new(),
            verdicts: Vec::new(),
            guards: BTreeMap::new(),
            names: Vec::new(),
        };
        Self { state: Mutex::new(state), ending: CancelToken::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the next command, and returns its number.
    pub(super) fn begin_part(&self, command: &str) -> usize {
        let mut state = self.state();
        state.errors.clear();
        state.parts.push(Part { command: command.to_owned(), began: Instant::now(), ended: None });
        state.parts.len() - 1
    }

    pub(super) fn end_part(&self, part: usize, status: i32) {
        let part = &mut self.state().parts[part];
        part.ended = Some((status, part.began.elapsed()));
    }

    pub(super) fn builds(&self, building: bool) {
        let mut state = self.state();
        state.building = building;
        state.progress.clear();
    }

    /// Replaces a name in the output, from now on, by the name that the book uses.
    pub(super) fn rename(&self, name: &str, in_the_book: &str) {
        let mut state = self.state();
        state.names.push((name.to_owned(), in_the_book.to_owned()));
        state.names.sort_by_key(|(name, _)| Reverse(name.len())); // a folder in a folder comes first
    }

    /// Adds a line of output.
    pub(super) fn print(&self, part: usize, line: &str) {
        let Some(mut state) = self.with_room_for(line) else { return };
        let line = state.names.iter().fold(line.to_owned(), |line, (name, shown)| line.replace(name, shown));
        state.lines.push((part, line));
    }

    /// Adds a line of standard error; if `stays` is false, the next line overwrites this line.
    pub(super) fn complain(&self, line: &str, stays: bool) {
        let Some(mut state) = self.with_room_for(line) else { return };
        let line = line.replace("\x1b[K", "");
        state.progress = line.trim_end().chars().take(200).collect();
        if stays {
            let line = mem::take(&mut state.progress);
            state.errors.push_back(line);
            let extra = state.errors.len().saturating_sub(LAST);
            state.errors.drain(..extra);
        }
    }

    /// Returns the state if there is room for one more line. Otherwise kills the commands.
    fn with_room_for(&self, line: &str) -> Option<MutexGuard<'_, State>> {
        let mut state = self.state();
        state.bytes += line.len() + 1;
        if state.bytes <= MOST_BYTES && state.lines.len() < MOST_LINES {
            return Some(state);
        }
        drop(state);
        self.kill("more output than 1 MiB or 10,000 lines");
        None
    }

    /// Returns how many lines have been printed.
    pub(super) fn count(&self) -> usize {
        self.state().lines.len()
    }

    /// Returns the output of a command, a line at a time.
    pub(super) fn printed(&self, part: usize) -> Vec<String> {
        let state = self.state();
        state.lines.iter().filter(|(of, _)| *of == part).map(|(_, line)| line.clone()).collect()
    }

    pub(super) fn judge(&self, verdict: Value) {
        self.state().verdicts.push(verdict);
    }

    /// Keeps the pipe to the guard of a command that begins. If the run has to end, the command ends at once.
    pub(super) fn guard(&self, guard: u32, pipe: ChildStdin) {
        let mut state = self.state();
        if state.cut_short.is_none() {
            state.guards.insert(guard, pipe);
        }
    }

    /// Lets a guard kill its command, if the command still runs.
    pub(super) fn release(&self, guard: u32) {
        self.state().guards.remove(&guard);
    }

    /// Interrupts all commands of this run, as Ctrl-C does. The guards kill the commands that do not end.
    pub(super) fn interrupt(&self, why: &str) {
        self.cut_short(why, |guards| {
            for pipe in guards.values_mut() {
                let _ = pipe.write_all(b"."); // fails if the guard has just ended
            }
        });
    }

    /// Kills all commands of this run.
    pub(super) fn kill(&self, why: &str) {
        self.cut_short(why, BTreeMap::clear);
    }

    fn cut_short(&self, why: &str, how: impl FnOnce(&mut BTreeMap<u32, ChildStdin>)) {
        let mut state = self.state();
        if state.ended.is_none() {
            state.cut_short.get_or_insert_with(|| why.to_owned());
            how(&mut state.guards);
            drop(state);
            self.ending.cancel();
        }
    }

    /// Marks the run as ended. If the reason for the early end of a run is not known yet, an error becomes
    /// the reason.
    pub(super) fn end(&self, result: anyhow::Result<()>) {
        let mut state = self.state();
        if let Err(error) = result {
            state.cut_short.get_or_insert_with(|| format!("{error:#}"));
        }
        state.ended = Some(state.began.elapsed());
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state().ended.is_some()
    }

    /// Returns what is new for a page that has already seen this many lines.
    pub(super) fn since(&self, seen: usize) -> Value {
        let state = self.state();
        let new = state.lines.get(seen..).unwrap_or_default();
        let new = &new[..new.len().min(AT_A_TIME)];
        let parts = state.parts.iter().map(|part| {
            let (status, seconds) = part.ended.map(|(status, time)| (status, time.as_secs_f64())).unzip();
            json!({ "command": part.command, "status": status, "seconds": seconds })
        });
        json!({
            "seconds": state.ended.unwrap_or_else(|| state.began.elapsed()).as_secs_f64(),
            "ended": state.ended.is_some(),
            "building": state.building,
            "cutShort": state.cut_short,
            "progress": if state.progress.is_empty() { state.errors.back() } else { Some(&state.progress) },
            "parts": parts.collect::<Vec<_>>(),
            "lines": new,
            "more": seen + new.len() < state.lines.len(),
            "errors": state.errors,
            "verdicts": state.verdicts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gets_each_line_once_under_the_name_that_the_book_has() {
        let run = Run::new();
        run.rename("/far/", "");
        run.rename("/far/away/", "target/");
        let part = run.begin_part("ls");
        run.print(part, "/far/away/a.txt");
        let first = run.since(0);
        assert_eq!(first["lines"], json!([[0, "target/a.txt"]]));
        run.rename("127.0.0.1:4711", "127.0.0.1:8080");
        run.print(part, "at 127.0.0.1:4711");
        assert_eq!(run.since(1)["lines"], json!([[0, "at 127.0.0.1:8080"]]));
        assert_eq!(run.since(99)["lines"], json!([]));
    }

    #[test]
    fn output_is_bounded_and_the_page_is_told() {
        for (length, most) in [(2_000, MOST_BYTES / 2_001), (1, MOST_LINES)] {
            let run = Run::new();
            let part = run.begin_part("yes");
            for _ in 0..=most {
                assert!(!run.ending.is_cancelled());
                run.print(part, &"y".repeat(length));
            }
            assert!(run.ending.is_cancelled());
            assert_eq!(run.since(0)["cutShort"], "more output than 1 MiB or 10,000 lines");
            assert_eq!(run.count(), most);
        }
    }

    #[test]
    fn a_page_asks_several_times_for_many_lines() {
        let run = Run::new();
        let part = run.begin_part("seq");
        (0..=AT_A_TIME).for_each(|number| run.print(part, &number.to_string()));
        let [first, second] = [0, AT_A_TIME].map(|seen| run.since(seen));
        assert_eq!((&first["more"], &first["lines"][999]), (&json!(true), &json!([0, "999"])));
        assert_eq!((&second["more"], &second["lines"]), (&json!(false), &json!([[0, "1000"]])));
    }

    #[test]
    fn of_standard_error_the_last_lines_stay_and_progress_is_overwritten() {
        let run = Run::new();
        for number in 0..30 {
            run.complain(&format!("line {number}"), true);
            run.complain(&format!("{number}/30\x1b[K "), false);
        }
        let view = run.since(0);
        assert_eq!(view["progress"], "29/30");
        assert_eq!(view["errors"].as_array().unwrap().len(), LAST);
        assert_eq!(view["errors"][0], "line 10");
    }

    #[test]
    fn the_first_reason_to_end_is_told_and_none_after_the_end() {
        let run = Run::new();
        run.interrupt("stopped");
        run.kill("too late");
        run.end(Err(anyhow::anyhow!("it failed")));
        assert_eq!(run.since(0)["cutShort"], "stopped");
        let run = Run::new();
        run.end(Ok(()));
        run.interrupt("stopped");
        assert_eq!(run.since(0)["cutShort"], Value::Null);
    }
}
