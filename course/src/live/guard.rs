//! `cargo course guard COMMAND`: the process between the course and a command of the book.
//!
//! The command must end when the course ends, even if the course is killed and can do nothing any more. So
//! each command has a guard, and the guard's standard input is a pipe from the course:
//!
//! | the guard reads | because | and then |
//! |---|---|---|
//! | a byte | the reader presses *stop* | it sends SIGINT to the command's process group, and SIGKILL after [`GRACE`] |
//! | the end of the pipe | the course is gone, or its patience | it sends SIGKILL to the group |
//!
//! When the command has ended, for whatever reason, the guard ends all processes that the command has left
//! behind. On Linux, a process that has lost its parent becomes a child of the guard, so the guard also finds
//! a process that has left the group. On other systems the guard ends only the group.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The time that a command may take to end after SIGINT.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a shell command until the command ends or must end, and returns the status as a shell reports it: the
/// exit status, or 128 and the number of the signal.
///
/// `typing` says whether the command's standard input stays open, as at a terminal, or is empty.
///
/// # Errors
/// Returns an error if the command cannot be started.
pub fn guard(command: &str, typing: bool) -> anyhow::Result<u8> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let stdin = if typing { Stdio::piped() } else { Stdio::null() };
    let mut child = Command::new("sh").args(["-c", command]).stdin(stdin).process_group(0).spawn()?;
    let _open = child.stdin.take(); // `wait` would close it
    let group = Pid::from_child(&child);
    thread::spawn(move || obey(group));
    // The dead child keeps its process ID until `wait`, so until then the group with this number is certainly
    // the child's group.
    waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let _ = kill_process_group(group, Signal::KILL); // fails if nobody is left
    let status = child.wait()?;
    #[cfg(target_os = "linux")]
    left_behind::end();
    let code =
        status.code().or_else(|| Some(128 + status.signal()?)).and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(u8::MAX))
}

/// Sends the group of the command the signals that the course asks for.
fn obey(group: Pid) {
    if io::stdin().read(&mut [0]).is_ok_and(|read| read > 0) {
        let _ = kill_process_group(group, Signal::INT);
        thread::sleep(GRACE); // this process ends earlier if the command does
    }
    let _ = kill_process_group(group, Signal::KILL);
}

#[cfg(target_os = "linux")]
mod left_behind {
    use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};
    use std::fs;

    /// Ends the children of this process, and repeats this until there are none. When a child ends, its own
    /// children become children of this process.
    pub(super) fn end() {
        loop {
            for child in children() {
                let _ = kill_process(child, Signal::KILL);
            }
            if wait(WaitOptions::empty()).is_err() {
                return;
            }
        }
    }

    fn children() -> impl Iterator<Item = Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            // The program's name, in parentheses, may contain any character; after the name come the state
            // and the parent's process ID.
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            let parent: i32 = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
            (parent == getpid().as_raw_nonzero().get()).then(|| Pid::from_raw(pid)).flatten()
        })
    }
}
