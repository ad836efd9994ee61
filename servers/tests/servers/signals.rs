//! Tests the deadline for the end of a stage that was told to stop. No stage can show this
//! deadline, because every stage ends its waits.

use crate::support::{DEADLINE, output_of};
use executor::CancelToken;
use servers::signals::stop_on_signal;
use std::env;
use std::process::Command;
use std::thread;
use std::time::Duration;

const LONGEST: Duration = Duration::from_millis(300);

/// This function is not a test, but the process that the next test starts. The process is told to stop, and
/// then waits forever.
#[test]
#[ignore = "does not end as a test should"]
fn a_process_that_hangs_while_it_stops() {
    let stop = CancelToken::new();
    let (_shutdown, _never_kept) = stop_on_signal(&stop, LONGEST, 3).unwrap();
    stop.cancel();
    thread::sleep(2 * DEADLINE); // stands for whatever may block; if the process is not ended before, the test fails
}

#[test]
fn a_stop_ends_whatever_blocks() {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "signals::a_process_that_hangs_while_it_stops"]);
    assert_eq!(output_of(&mut command).status.code(), Some(3));
}
