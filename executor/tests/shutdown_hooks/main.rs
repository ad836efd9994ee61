//! Tests shutdown hooks from outside: the test starts a process, sends it signals and looks at its exit
//! status.
//!
//! The processes run the ignored tests of the module `child`. A test starts each process, and this process
//! reports events on its standard output.
#![cfg(unix)]

mod child;
mod process;
mod sigquit;

use std::io::{self, PipeReader, PipeWriter, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use executor::shutdown_hooks::{ShutdownBegun, ShutdownCause, ShutdownGuard, ShutdownHook, ShutdownHooks};
use process::{Process, command, times};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::Signal;

const SIGNALS: [(Signal, i32); 2] = [(Signal::INT, 130), (Signal::TERM, 143)];

#[test]
fn a_signal_runs_the_hooks_last_registered_first_and_ends_the_process() {
    for (signal, status) in SIGNALS {
        let mut process = Process::start("three_hooks");
        process.until("ready");
        process.send(signal);
        process.assert_ends(status, &["c", "b", "a"]);
    }
}

#[test]
fn the_end_of_main_runs_them_too_and_keeps_its_status() {
    Process::start("returns").assert_ends(0, &["b", "a: End", "main goes on"]);
    Process::start("unwinds").assert_ends(101, &["a: End"]); // the test harness's status for a panic
}

/// If a script starts a process in the background, the shell makes the process ignore SIGINT.
#[test]
fn a_signal_that_the_parent_has_ignored_is_caught_all_the_same() {
    let mut command = Command::new("sh");
    command.args(["-c", r#"trap '' INT; exec "$0" "$@""#]).arg(std::env::current_exe().unwrap());
    let mut process =
        Process::start_with(command.args(process::arguments("three_hooks")).stderr(Stdio::null()));
    process.until("ready");
    process.send(Signal::INT);
    process.assert_ends(130, &["c", "b", "a"]);
}

#[test]
fn main_does_not_end_the_process_while_a_signal_does() {
    Process::start("returns_after_a_signal").assert_ends(143, &["a"]);
}

#[test]
fn exit_runs_them_and_has_its_status() {
    Process::start("exits").assert_ends(7, &["b", "a: Exit(7)"]);
    Process::start("exits_in_a_hook").assert_ends(9, &["c", "b", "a: Signal(15)"]);
    Process::start("exits_in_a_hook_and_has_a_handler").assert_ends(9, &["a"]); // no panic, so no report
    Process::start("exits_in_a_hook_that_panics").assert_ends(9, &["c", "a"]);
    Process::start("exits_after_the_hooks").assert_ends(5, &["a"]);
}

/// When `exit` is called, code of the library is on the stack between the hook and the call. Another thread
/// runs the remaining hooks.
#[test]
fn exit_ends_its_hook_from_inside_whatever_the_hook_calls() {
    for child in [
        "exits_in_on_cancel",
        "exits_in_on_done",
        "exits_in_on_done_of_a_shared_handle",
        "exits_in_a_destructor",
        "exits_in_a_destructor_of_a_result",
        "exits_in_a_task",
        "exits_in_a_task_of_a_line",
        "exits_in_a_scope",
        "exits_in_a_computation",
        "exits_in_a_panic_handler",
        "exits_in_a_catch_unwind",
    ] {
        let (status, said) = Process::start(child).end();
        assert_eq!(
            (status, &*said),
            (Some(9), &["c", "b2", "b1", "a: Signal(15)"].map(str::to_owned)[..]),
            "{child}"
        );
    }
}

#[test]
fn a_hook_can_choose_the_status() {
    Process::start("chooses_the_status").assert_ends(0, &["a: Signal(15)"]);
    let said = ["a: End", "main goes on"];
    Process::start("chooses_a_status_that_main_does_not_have").assert_ends(0, &said);
}

#[test]
fn a_hook_may_own_the_guard() {
    Process::start("has_the_guard_in_a_hook").assert_ends(143, &["c", "b", "a"]);
}

#[test]
fn a_hook_is_told_how_much_time_there_is() {
    Process::start("asks_for_the_time").assert_ends(0, &["in time: true"]);
}

#[test]
fn a_program_that_is_asked_otherwise_ends_by_itself() {
    Process::start("requested").assert_ends(0, &["a: Requested", "main goes on"]);
    for (signal, status) in SIGNALS {
        let mut process = Process::start("requested_and_hangs");
        process.until("ready");
        process.send(signal);
        assert_eq!(process.end().0, Some(status), "that is the second request");
    }
}

/// The thread that watches the deadline waits only for the deadline.
#[test]
fn what_blocks_is_left_behind_at_the_deadline() {
    for (child, status) in [
        ("blocks_after_a_signal", 143),
        ("blocks_at_the_end", 1),
        ("blocks_after_exit", 1),
        ("blocks_after_a_request", 1),
        ("blocks_with_a_status", 3),
    ] {
        let began = Instant::now();
        Process::start(child).assert_ends(status, &["b"]);
        assert!(began.elapsed() >= child::SOON, "{child}: too early");
    }
}

#[test]
fn a_second_signal_ends_a_process_that_hangs() {
    for (first, _) in SIGNALS {
        for (second, status) in SIGNALS {
            let mut process = Process::start("hangs_in_a_hook");
            process.until("ready");
            process.send(first);
            process.until("b");
            process.send(second);
            process.assert_ends(status, &[]);
        }
    }
}

#[test]
fn a_hook_that_panics_is_reported_and_the_others_run() {
    let report = "reported: task shutdown hook b panicked on thread shutdown hooks: it failed";
    Process::start("panics").assert_ends(143, &["c", report, "a"]);
}

#[test]
fn hooks_are_fixed_when_the_shutdown_begins() {
    let expected = ["c", "add: the process is shutting down", "remove: the process is shutting down", "a"];
    Process::start("changes_hooks_too_late").assert_ends(143, &expected);
}

#[test]
fn a_hook_that_was_removed_does_not_run() {
    Process::start("removes").assert_ends(143, &["b was dropped", "c", "a"]);
}

#[test]
fn a_process_has_one_set_of_hooks() {
    Process::start("installs_twice").assert_ends(0, &["AlreadyExists", "a"]);
}

/// During the grace period the pool cancels no task, so a task that ends in this time continues undisturbed
/// to its end. After the grace period the pool cancels the other tasks, and the waiting tasks never begin.
#[test]
fn a_pool_is_ended_by_its_hook() {
    Process::start("ends_a_pool").assert_ends(143, &["quick task done", "log"]);
    Process::start("cancels_a_pool")
        .assert_ends(143, &["slow task cancelled", "the other never began", "log"]);
    Process::start("waits_for_a_pool_that_it_has_stopped").assert_ends(143, &["task ended", "log"]);
    Process::start("has_lost_its_pool").assert_ends(143, &["pool dropped", "log"]);
}

/// A signal can come at any moment, whatever the process does then. Each hook runs once, in order, and the
/// exit status names the signal. `EXECUTOR_SIGNALS=300` asks for more rounds.
#[test]
fn a_signal_at_any_moment_runs_each_hook_once_in_order() {
    for round in 0..times() {
        let (signal, status) = SIGNALS[round % 2];
        let mut process = Process::start("works_hard");
        process.until("ready");
        thread::sleep(moment()); // the moment is what this test tries; the sleep waits for nothing
        process.send(signal);
        process.assert_ends(status, &["5", "4", "pool ended", "2", "1"]);
    }
}

/// The second signal comes before, during or after the hooks. The second signal may end the hooks early, but
/// it must not change any other behaviour.
#[test]
fn two_signals_at_any_moments_run_a_beginning_of_the_hooks() {
    for round in 0..times() {
        let ((first, one), (second, other)) = (SIGNALS[round % 2], SIGNALS[round / 2 % 2]);
        let mut process = Process::start("works_hard");
        process.until("ready");
        thread::sleep(moment());
        process.send(first);
        thread::sleep(moment() / 4);
        process.send_if_it_lives(second);
        let (status, said) = process.end();
        let all = ["5", "4", "pool ended", "2", "1"];
        assert!(all.starts_with(&said.iter().map(String::as_str).collect::<Vec<_>>()), "{said:?}");
        assert!(status == Some(one) || status == Some(other), "{status:?} in round {round}");
    }
}

/// The library itself writes nothing to standard error, so no other process needs to read standard error.
#[test]
fn nobody_has_to_read_standard_error() {
    for stderr in [closed as fn() -> Stderr, full, unread] {
        for (signal, status) in SIGNALS {
            let (_reader, stderr) = stderr();
            let mut process = Process::start_with(command("three_hooks").stderr(stderr));
            process.until("ready");
            process.send(signal);
            process.assert_ends(status, &["c", "b", "a"]);
        }
    }
    let mut process = Process::start_with(&mut process::without_stderr("three_hooks"));
    process.until("ready");
    process.send(Signal::TERM);
    process.assert_ends(143, &["c", "b", "a"]);
}

/// If a hook writes more than its reader reads, the hook blocks. The standard library's panic hook can block
/// in the same way.
#[test]
fn a_hook_that_writes_to_standard_error_is_left_behind_at_the_deadline() {
    for (child, stderr) in [("writes_much", unread as fn() -> Stderr), ("panics_soon", full)] {
        let (_reader, stderr) = stderr();
        let mut process = Process::start_with(command(child).stderr(stderr));
        process.until("ready");
        process.send(Signal::TERM);
        process.assert_ends(143, &["b"]);
    }
    let (_reader, stderr) = closed();
    let mut process = Process::start_with(command("writes_much").stderr(stderr));
    process.until("ready");
    process.send(Signal::TERM);
    process.assert_ends(143, &["b", "a"]);
}

/// At the end the standard library flushes standard output. This flush can block, but it must not keep the
/// process from ending.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_flushed_does_not_hold_up_the_end() {
    let (process, _unread) = Process::start_unheard("cannot_flush");
    process.assert_ends(143, &[]);
}

/// Two threads wait for the end of the process, and neither of the two may wake up before the end.
#[cfg(target_os = "linux")]
#[test]
fn nothing_wakes_up_while_there_is_no_signal() {
    let mut process = Process::start("three_hooks");
    process.until("ready");
    let wakes_within_a_second = || {
        let before = process.voluntary_context_switches();
        thread::sleep(Duration::from_secs(1)); // the time in which wake-ups are counted
        process.voluntary_context_switches() - before
    };
    // In the first seconds, threads that have just been started may not sleep yet.
    let quiet = (0..20).any(|_| wakes_within_a_second() == 0);
    assert!(quiet, "something looks again and again");
}

#[test]
fn what_is_handed_out_can_be_shared() {
    fn shareable<T: Send + Sync>() {}
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    shareable::<ShutdownHooks>();
    shareable::<ShutdownGuard>();
    shareable::<ShutdownHook>();
    shareable::<ShutdownCause>();
    error::<ShutdownBegun>();
}

type Stderr = (Option<PipeReader>, Stdio);

/// A pipe without a reader.
fn closed() -> Stderr {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    (None, writer.into())
}

fn unread() -> Stderr {
    let (reader, writer) = io::pipe().unwrap();
    (Some(reader), writer.into())
}

/// A pipe that has no room for another byte.
fn full() -> Stderr {
    let (reader, mut writer) = io::pipe().unwrap();
    fill(&mut writer);
    (Some(reader), writer.into())
}

/// Writes to the pipe until the pipe has no room for another byte.
fn fill(writer: &mut PipeWriter) {
    let blocking = fcntl_getfl(&*writer).unwrap();
    fcntl_setfl(&*writer, blocking | OFlags::NONBLOCK).unwrap();
    for size in [4096, 1] {
        while writer.write(&vec![b'.'; size]).is_ok() {}
    }
    fcntl_setfl(&*writer, blocking).unwrap();
}

/// Returns a delay of at most 20 ms; each call returns a different delay.
fn moment() -> Duration {
    use std::hash::{BuildHasher, RandomState};
    Duration::from_micros(RandomState::new().hash_one(0) % 20_000)
}
