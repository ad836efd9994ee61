//! Tests a process that forks while its threads log.
#![expect(unsafe_code, reason = "a fork copies one thread of many, and the child may call little")]

use crate::facades::in_own_process;
use crate::place::{LONG, Place, wait_until};
use logservice::sink::FileSink;
use logservice::{Counts, Durability, FlushError, Level, LogService, NotLogged};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const THREADS: usize = 4;
const CHILDREN: usize = 12;

/// The work of a child process. Returns true if every check was successful.
fn in_the_child(service: &LogService, own_log: Option<&Path>) -> bool {
    let is_refused = service.say(Level::Info, "", format_args!("from a child")) == Err(NotLogged::Forked)
        && service.flush(Durability::Disk, LONG) == Err(FlushError::Forked)
        && service.counts() == Counts::default();
    service.reopen();
    is_refused && service.stop(LONG) == Counts::default() && own_log.is_none_or(has_a_service_of_its_own)
}

fn has_a_service_of_its_own(log: &Path) -> bool {
    let service = LogService::builder().start(FileSink::builder(log).open().unwrap()).unwrap();
    service.say(Level::Info, "", format_args!("of its own")).is_ok() && service.stop(LONG).written == 1
}

/// Returns true if the child ends in time, with success.
fn ends_well(child: Pid) -> bool {
    let began = Instant::now();
    loop {
        match waitpid(Some(child), WaitOptions::NOHANG).unwrap() {
            Some((_, status)) => return status.exit_status() == Some(0),
            None if began.elapsed() > LONG / 4 => break,
            None => thread::sleep(Duration::from_millis(1)),
        }
    }
    kill_process(child, Signal::KILL).unwrap();
    waitpid(Some(child), WaitOptions::empty()).unwrap();
    false
}

in_own_process! {
    children_of_a_process_whose_threads_log_are_refused_and_have_services_of_their_own
    {
        let place = Place::new();
        let service = LogService::builder().start(place.open()).unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while !is_over.load(Relaxed) {
                        service.say(Level::Info, "", format_args!("from the parent")).unwrap();
                    }
                });
            }
            wait_until("the threads log", || service.counts().written > 0);
            let ended = (0..CHILDREN).filter(|number| {
                let own_log = (*number == 0).then(|| place.path("child"));
                // SAFETY: glibc's allocator stays usable in a child of a process with many threads; the test
                // checks the same for the service.
                match unsafe { libc::fork() } {
                    0 => {
                        let status = i32::from(!in_the_child(&service, own_log.as_deref()));
                        // SAFETY: the call ends the process, and no value of this process needs to be
                        // dropped.
                        unsafe { libc::_exit(status) }
                    }
                    child => ends_well(Pid::from_raw(child).unwrap()),
                }
            });
            let ended = ended.count();
            is_over.store(true, Relaxed);
            assert_eq!(ended, CHILDREN);
        });
        let counts = service.stop(LONG);
        let lines = place.text("app.log").lines().filter(|line| line.ends_with("from the parent")).count();
        assert_eq!((counts.accepted, counts.written), (lines as u64, lines as u64));
        assert!(!place.text("app.log").contains("child"));
    }
}
