//! The report: a line of output that tells a parent process whether a property holds in its child.
//!
//! The learner's code can also print such a line and end the process. So the line contains a number that only
//! the parent and the child know.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Write as _;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use exercises_protocol::{ROUND, Verdict};

use crate::watch;

const REPORT: &str = "\u{1e}exercise-report ";

/// Makes the number that only the parent and the child know.
pub(crate) fn new_nonce() -> String {
    RandomState::new().build_hasher().finish().to_string()
}

/// Returns the report with this number, if the output contains one.
pub(crate) fn find(stdout: &str, nonce: &str) -> Option<Verdict> {
    let report = format!("{REPORT}{nonce} ");
    let (_, json) = stdout.lines().find_map(|line| line.split_once(&report))?;
    serde_json::from_str(json).ok()
}

/// The task that the parent has given to this process.
struct Asked {
    /// The number that the parent has written to our standard input. Only a report with this number counts,
    /// because the learner's code can also print a report. The number is read before any of the learner's
    /// code runs.
    nonce: String,
    /// The number that decides which schedules the model tries.
    round: u64,
}

static ASKED: Mutex<Option<Asked>> = Mutex::new(None);

fn asked() -> MutexGuard<'static, Option<Asked>> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the task of this process from now on.
pub(crate) fn is_asked(nonce: String, round: u64) {
    *asked() = Some(Asked { nonce, round });
}

pub(crate) fn round() -> u64 {
    asked().as_ref().map_or(0, |asked| asked.round)
}

/// Reads the task of this process, unless the task is known already. This function must be called before any
/// of the learner's code runs.
pub(crate) fn begin() {
    asked().get_or_insert_with(the_only_thing);
}

/// Reads the only task of a test's process.
fn the_only_thing() -> Asked {
    let round = std::env::var(ROUND).ok().and_then(|round| round.parse().ok()).unwrap_or(0);
    Asked { nonce: std::io::read_to_string(std::io::stdin()).unwrap_or_default(), round }
}

/// Writes the report and ends the process. If two threads want to report something, only the first report
/// counts.
pub fn report_and_exit(verdict: &Verdict) -> ! {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if REPORTED.swap(true, Ordering::Relaxed) {
        loop {
            thread::park();
        }
    }
    let written = report(verdict);
    exit(i32::from(verdict.is_err() || written.is_err()))
}

/// Writes the report.
pub(crate) fn report(verdict: &Verdict) -> std::io::Result<()> {
    watch::end();
    let json = serde_json::to_string(verdict).expect("strings and numbers");
    let mut stdout = std::io::stdout().lock();
    let nonce = asked().as_ref().map_or(String::new(), |asked| asked.nonce.clone());
    writeln!(stdout, "{REPORT}{nonce} {json}")?;
    stdout.flush()
}
