//! A child process whose end is waited for until a token is cancelled.
//!
//! `Child::wait` and `Child::kill` both want the child for themselves, so a thread that waits keeps others
//! from killing. The system has a call that waits for a process to end and leaves it as it is, a zombie. In
//! that call the thread holds no lock. Until somebody collects the zombie, under the lock, its number belongs
//! to nobody else, so a kill under the lock reaches this child or one that has ended, and no stranger.

use std::io;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::cancel::{CancelToken, Registration};
use crate::sync::{Arc, Mutex};

/// A [`Child`] that is killed when a token is cancelled, so that whoever [waits](Self::wait) for it comes
/// back.
///
/// Only this process is killed. What it has started itself goes on, unless it sees to that. Dropping the
/// value leaves the child as it is, as dropping a [`Child`] does: one that runs goes on, and one that has
/// ended stays a zombie until this process ends, unless somebody has waited for it.
///
/// ```
/// use std::process::Command;
/// use executor::{CancelToken, CancellableChild, CancelKind, Cancelled};
/// use std::time::Duration;
///
/// let limit = CancelToken::new().with_timeout(Duration::from_millis(20));
/// let sleeper = CancellableChild::new(Command::new("sleep").arg("3600").spawn()?, &limit);
/// let late = Cancelled::from_io(sleeper.wait().unwrap_err())?;
/// assert_eq!(late.reason().unwrap().kind(), CancelKind::Deadline);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct CancellableChild {
    pid: Pid,
    token: CancelToken,
    shared: Arc<Mutex<ChildShared>>,
    _kills: Registration,
}

#[derive(Debug)]
struct ChildShared {
    child: Child,
    /// It was killed because of the token.
    killed: bool,
}

impl CancellableChild {
    /// Has the child killed when `token` is cancelled, which may be now. Take its output before: `wait` does
    /// not read it.
    pub fn new(child: Child, token: &CancelToken) -> Self {
        let pid = Pid::from_child(&child);
        let shared = Arc::new(Mutex::new(ChildShared { child, killed: false }));
        let kills = token.on_cancel({
            let shared = Arc::clone(&shared);
            move || shared.lock().kill()
        });
        Self { pid, token: token.clone(), shared, _kills: kills }
    }

    /// Waits until the child has ended. Closes its standard input before, as [`Child::wait`] does. Several
    /// threads may wait.
    ///
    /// # Errors
    /// An error that has [`struct@crate::Cancelled`] in it if the child was killed because the token is
    /// cancelled. It has ended then, too, and the system has forgotten it. A child that had ended by itself
    /// gives its status all the same. Otherwise what the system says: it knows no status if the process has
    /// SIGCHLD ignored, which it may have from its parent.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        let mut shared = self.shared.lock();
        drop(shared.child.stdin.take());
        // One that was collected has no number any more. It may be another child's by now, whose end is not
        // awaited here.
        if matches!(shared.child.try_wait(), Ok(None)) {
            drop(shared);
            self.until_it_has_ended();
            shared = self.shared.lock();
        }
        let ended = shared.child.wait();
        // A child can end by itself in the moment before it is killed.
        let by_itself = ended.as_ref().is_ok_and(|status| status.code().is_some());
        if shared.killed && !by_itself { Err(self.token.cancelled().into()) } else { ended }
    }

    fn until_it_has_ended(&self) {
        let has_ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        // Another error than this can only mean that somebody has collected the child already.
        while waitid(WaitId::Pid(self.pid), has_ended).err() == Some(rustix::io::Errno::INTR) {}
    }

    /// The status of the child if it has ended, as [`Child::try_wait`]. Never blocks.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        self.shared.lock().child.try_wait()
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.shared.lock().child.id()
    }
}

impl ChildShared {
    fn kill(&mut self) {
        // One that has ended by itself was not killed, whatever becomes of the signal.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.killed = self.child.kill().is_ok();
        }
    }
}
