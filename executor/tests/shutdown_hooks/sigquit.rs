//! A dump on request: a process gets SIGQUIT, writes a dump, and continues.

use std::io::{self, BufRead, BufReader};
use std::sync::mpsc;
use std::thread;

use rustix::process::Signal;

use crate::process::{LONG, Process, command};

/// The process has switched dumps on twice, and a task of the process holds the lock of standard error.
#[test]
fn sigquit_writes_one_dump_and_the_process_goes_on() {
    let (reader, writer) = io::pipe().unwrap();
    let mut process = Process::start_with(command("dumps").stderr(writer));
    let (tell, told) = mpsc::channel();
    thread::spawn(move || BufReader::new(reader).lines().try_for_each(|line| tell.send(line.unwrap())));
    process.until("ready");
    for _ in 0..2 {
        process.send(Signal::QUIT);
        let next = || told.recv_timeout(LONG).expect("the process writes a dump");
        assert_eq!(next(), "dump: pools 1, waiting threads 0");
        assert_eq!(
            next(),
            "pool quit: running, 1 of 1 threads, 1 active, 1 queued, 0 completed (0 panicked)"
        );
        let stuck = next();
        assert!(stuck.starts_with("  runs    stuck (#") && stuck.contains(") on quit-thread-1"), "{stuck}");
        assert!(next().starts_with("  queued  later (#"));
    }
    assert_eq!(process.threads_named("executor-dump"), 1, "the second call has started no other thread");
    process.send(Signal::TERM);
    process.assert_ends(143, &["a"]);
    assert_eq!(told.iter().collect::<Vec<_>>(), [""; 0], "nothing but the two dumps");
}
