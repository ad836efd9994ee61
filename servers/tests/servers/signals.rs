//! Tests the deadline by which a process must end after the stop. No stage can show this deadline, because
//! a stage ends all its waits earlier.

use crate::support::{DEADLINE, output_of};
use executor::CancelToken;
use servers::signals::stop_on_signal;
use std::env;
use std::process::Command;
use std::thread;
use std::time::Duration;

const LONGEST: Duration = Duration::from_millis(300);

/// This function is not a test, but the program that the next test starts as a process. The process
/// receives a stop, and then waits forever.
#[test]
#[ignore = "does not end as a test should"]
fn a_process_that_hangs_while_it_stops() {
    let stop = CancelToken::new();
    let (_shutdown, _never_kept) = stop_on_signal(&stop, LONGEST, 3).unwrap();
    stop.cancel();
    thread::sleep(2 * DEADLINE); // stands for any blocking call; the test fails unless the process ends before
}

#[test]
fn a_stop_ends_whatever_blocks() {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "signals::a_process_that_hangs_while_it_stops"]);
    assert_eq!(output_of(&mut command).status.code(), Some(3));
}
