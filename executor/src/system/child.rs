//! A child process that is killed when a token is cancelled, so that a wait for the child returns.
//!
//! Both `Child::wait` and `Child::kill` need `&mut Child`. So while a thread waits for a child, no other
//! thread can kill the child. But the system has a call that waits for the end of a process and leaves the
//! ended process as a zombie. While a thread waits in that call, the thread holds no lock. Later a thread
//! collects the zombie, under the lock. Until the zombie is collected, no other process gets the child's
//! number. So a thread that kills the child under the lock never kills another process, even if the child has
//! ended.

use std::io;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::cancel::{CancelToken, Registration};
use crate::sync::{Arc, Mutex};

/// A [`Child`] that is killed when a token is cancelled, so that a [`wait`](Self::wait) for its end returns.
///
/// Cancelling the token kills only the child itself. The processes that the child has started go on. Dropping
/// the value has no effect on the child, as with a [`Child`]: a running child goes on. An ended child stays a
/// zombie until this process ends, unless a thread has waited for the child.
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
    /// True if the child was killed because the token is cancelled.
    killed: bool,
}

impl CancellableChild {
    /// Makes a value that kills the child when `token` is cancelled, or at once if the token is cancelled
    /// already. Take the output pipes out of `child` first: `wait` does not read them.
    ///
    /// ```
    /// use executor::{CancelToken, CancellableChild};
    /// use std::process::{Command, Stdio};
    ///
    /// let child = Command::new("echo").arg("hello").stdout(Stdio::null()).spawn()?;
    /// let child = CancellableChild::new(child, &CancelToken::new());
    /// assert!(child.wait()?.success());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(child: Child, token: &CancelToken) -> Self {
        let pid = Pid::from_child(&child);
        let shared = Arc::new(Mutex::new(ChildShared { child, killed: false }));
        let kills = token.on_cancel({
            let shared = Arc::clone(&shared);
            move || shared.lock().kill()
        });
        Self { pid, token: token.clone(), shared, _kills: kills }
    }

    /// Waits until the child has ended. Like [`Child::wait`], the call first closes the child's standard
    /// input. Several threads may wait.
    ///
    /// ```
    /// use executor::{CancelToken, CancellableChild, Cancelled};
    /// use std::process::Command;
    ///
    /// let token = CancelToken::new();
    /// let sleeper = CancellableChild::new(Command::new("sleep").arg("3600").spawn()?, &token);
    /// token.cancel();
    /// assert!(Cancelled::from_io(sleeper.wait().unwrap_err()).is_ok());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the child was killed because the token is cancelled, the error has [`struct@crate::Cancelled`] in
    /// it. In this case the call has also collected the killed child. If the child had already ended by
    /// itself, the call returns the child's status, even if the token is cancelled. Any other error comes
    /// from the system. For example, the system knows no status if this process ignores SIGCHLD, perhaps
    /// because its parent ignored SIGCHLD.
    ///
    /// # Blocking
    /// Blocks until the child has ended by itself, or was killed because the token was cancelled.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        let mut shared = self.shared.lock();
        drop(shared.child.stdin.take());
        // A collected child no longer has a number. Another child may have the same number by now, and this
        // call must not wait for that child.
        if matches!(shared.child.try_wait(), Ok(None)) {
            drop(shared);
            self.until_it_has_ended();
            shared = self.shared.lock();
        }
        let ended = shared.child.wait();
        // A child can end by itself just before it is killed.
        let by_itself = ended.as_ref().is_ok_and(|status| status.code().is_some());
        if shared.killed && !by_itself { Err(self.token.cancelled().into()) } else { ended }
    }

    fn until_it_has_ended(&self) {
        let has_ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        // Any other error means that another thread has collected the child already.
        while waitid(WaitId::Pid(self.pid), has_ended).err() == Some(rustix::io::Errno::INTR) {}
    }

    /// Returns the status of the child if it has ended, like [`Child::try_wait`]. Never blocks.
    ///
    /// ```
    /// use executor::{CancelToken, CancellableChild};
    /// use std::process::Command;
    ///
    /// let token = CancelToken::new();
    /// let sleeper = CancellableChild::new(Command::new("sleep").arg("3600").spawn()?, &token);
    /// assert!(sleeper.try_wait()?.is_none());
    /// token.cancel();
    /// # let _ = sleeper.wait();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the system does not know the status.
    pub fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        self.shared.lock().child.try_wait()
    }

    /// Returns the number of the process.
    ///
    /// ```
    /// use executor::{CancelToken, CancellableChild};
    /// use std::process::Command;
    ///
    /// let child = Command::new("true").spawn()?;
    /// let id = child.id();
    /// let child = CancellableChild::new(child, &CancelToken::new());
    /// assert_eq!(child.id(), id);
    /// # child.wait()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn id(&self) -> u32 {
        self.shared.lock().child.id()
    }
}

impl ChildShared {
    fn kill(&mut self) {
        // The system accepts a signal for a child that has already ended by itself, but the signal does not
        // kill this child.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.killed = self.child.kill().is_ok();
        }
    }
}
