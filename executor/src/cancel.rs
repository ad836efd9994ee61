//! Co-operative cancellation: asking a task to stop, and noticing that one was asked.
//!
//! A Rust thread cannot be interrupted from outside. What can be done is to agree on a signal, to look at it between
//! two steps of work, and to have everything that blocks listen for it. The signal is a [`CancelToken`].
//!
//! ```
//! use executor::{CancelToken, Cancelled};
//!
//! fn count_to(limit: u64, token: &CancelToken) -> Result<u64, Cancelled> {
//!     let mut n = 0;
//!     while n < limit {
//!         token.check()?; // once per unit of work
//!         n += 1;
//!     }
//!     Ok(n)
//! }
//!
//! let token = CancelToken::new();
//! assert_eq!(count_to(1_000, &token), Ok(1_000));
//! token.cancel();
//! assert_eq!(count_to(1_000, &token), Err(Cancelled));
//! ```
//!
//! # One tree
//!
//! Tokens form a tree. Cancelling one cancels everything below it and nothing above, so stopping one task and stopping
//! a whole pool are the same operation at two heights.
//!
//! ```text
//!   pool's root ──┬── task's token ──── token of a task it runs inline
//!    (shutdown_now)├── task's token          (handle.cancel)
//!                  └── …
//! ```
//!
//! A token goes from *live* to *cancelled* once and never back; whoever calls [`cancel`](CancelToken::cancel) first
//! moves it. The request is never cleared, and it cannot leak into the next task on the same thread either, because
//! it belongs to the task and not to the thread.
//!
//! # The current token
//!
//! Each thread has a stack of frames, one for each task it is in the middle of (more than one only when a task runs
//! another inline) and one for each [`attach`](CancelToken::attach). The top frame's token is the *current* one; every
//! blocking call of this crate obeys it. Most tasks never ask, so a frame starts without a token and makes one on
//! demand, as a child of the frame below. A callback or a hook gets a frame in which nothing is current: it is no part of
//! the task whose thread it borrows.
//!
//! # Invariants
//!
//! 1. `cancelled` is set under the lock of `state`, so whoever adds a callback under that lock either sees it set or is
//!    found by the canceller.
//! 2. Only the one thread that set `cancelled` runs callbacks, in the order in which they were registered, one at a
//!    time, outside the lock.
//! 3. Locks are taken downwards only (parent before child), and never two at once.
//! 4. When [`Registration`]'s drop has returned, its callback is not running and never will be.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use crate::error::{Cancelled, contain, discard};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, ThreadId};
use crate::sync::{Arc, Condvar, Mutex, Weak, ids, thread_local};

/// A request to stop that can be made once, seen by many and passed down to children.
///
/// Clones are the same token. Give a task its own [`child`](Self::child) when it should be possible to stop it alone.
#[derive(Clone)]
pub struct CancelToken {
    node: Arc<Node>,
}

struct Node {
    cancelled: AtomicBool,
    state: Mutex<State>,
    callback_done: Condvar,
    parent: Option<Link>,
}

/// Where a child hangs below its parent.
struct Link {
    parent: CancelToken,
    key: u64,
}

#[derive(Default)]
struct State {
    callbacks: BTreeMap<u64, Callback>, // ordered by key, that is, by time of registration
    running: Option<(u64, ThreadId)>,
}

enum Callback {
    Child(Weak<Node>),
    User(Box<dyn FnOnce() + Send>),
}

impl CancelToken {
    /// Makes a token at the top of a tree of its own.
    pub fn new() -> Self {
        Self { node: Arc::new(Node::new(None)) }
    }

    /// Makes a token that is cancelled with this one and can be cancelled alone.
    ///
    /// A child of a cancelled token is born cancelled. A child costs its parent one map entry while it lives.
    pub fn child(&self) -> Self {
        let key = next_key();
        let node = Arc::new(Node::new(Some(Link { parent: self.clone(), key })));
        let child = Self { node };
        if self.insert(key, Callback::Child(Arc::downgrade(&child.node))).is_err() {
            child.cancel();
        }
        child
    }

    /// The token of the task that the calling thread is running.
    ///
    /// On a thread that runs no task each call makes a fresh token, which nobody else has, so functions that ask for it
    /// can be called from anywhere. A callback ([`on_cancel`](Self::on_cancel),
    /// [`on_done`](crate::TaskHandle::on_done)), a [hook](crate::Hooks), a panic handler, and the `Drop` of a captured
    /// value or a result that the library drops belong to no task either, whichever thread they run on: there, too, the
    /// token is fresh, and no request cuts a blocking call short.
    ///
    /// Only the owner of a task (through its handle) or of a pool is meant to cancel what this
    /// returns; a task that wants to cancel a part of itself makes a [`child`](Self::child).
    pub fn current() -> Self {
        FRAMES.try_with(|frames| materialise(&mut frames.borrow_mut())).ok().flatten().unwrap_or_default()
    }

    /// Asks everybody who has this token, or a child of it, to stop.
    ///
    /// Runs the callbacks of [`on_cancel`](Self::on_cancel) on this thread before it returns: this token's first, then
    /// those of its children, level by level. Returns true if this call made the request, false if it had been made
    /// before. What happened before the call is visible to whoever sees the request.
    #[expect(clippy::must_use_candidate, reason = "most callers need not know whether they were first")]
    pub fn cancel(&self) -> bool {
        let mut below = VecDeque::new();
        let first = self.node.cancel(&mut below);
        // A list and no recursion: a chain of children can be longer than the stack is deep.
        while let Some(child) = below.pop_front() {
            child.cancel(&mut below);
        }
        first
    }

    /// Whether the request was made, here or at a parent.
    pub fn is_cancelled(&self) -> bool {
        // Acquire: pairs with the Release in `cancel`.
        self.node.cancelled.load(Ordering::Acquire)
    }

    /// `Err` once the request was made: call it once per unit of work and pass the error on with `?`.
    ///
    /// # Errors
    /// [`Cancelled`] if the token is cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Registers what to do when the request comes, to reach a thread that is blocked where no token is looked at:
    /// shut its socket down, close its channel, wake its event loop.
    ///
    /// The callback runs once at most, on the thread that cancels; at once and on this thread if the token is already
    /// cancelled. Callbacks run in order of registration. A panic in one does not keep the others from running.
    /// Dropping the [`Registration`] takes the callback back.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # let token = executor::CancelToken::new();
    /// let (tell, told) = mpsc::channel();
    /// let registration = token.on_cancel(move || tell.send("stop").unwrap());
    /// token.cancel();
    /// assert_eq!(told.recv(), Ok("stop"));
    /// # drop(registration);
    /// ```
    pub fn on_cancel(&self, callback: impl FnOnce() + Send + 'static) -> Registration {
        let key = next_key();
        let place = match self.insert(key, Callback::User(Box::new(callback))) {
            Ok(()) => Some((self.clone(), key)),
            Err(callback) => {
                if let Callback::User(callback) = callback {
                    discard(contain(|| outside_any_task(callback)));
                }
                None
            }
        };
        Registration { place }
    }

    /// Runs `f` with this token as the thread's current one: carries a token to a thread of one's own.
    ///
    /// ```
    /// # use executor::CancelToken;
    /// let token = CancelToken::current(); // of the task, say
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| token.attach(|| CancelToken::current().check()));
    /// });
    /// ```
    pub fn attach<R>(&self, f: impl FnOnce() -> R) -> R {
        let _frame = push();
        fill(|frame| frame.token = Some(self.clone()));
        f()
    }

    /// Runs `f`, a worker's loop, with this token above those of the tasks that it runs. Between two tasks it is not current:
    /// hooks and the `Drop` of what a task leaves behind run there, and are no task of the pool's.
    pub(crate) fn above_tasks<R>(&self, f: impl FnOnce() -> R) -> R {
        outside_any_task(|| {
            fill(|frame| frame.token = Some(self.clone()));
            f()
        })
    }

    /// Adds a callback, or gives it back if the token is cancelled.
    fn insert(&self, key: u64, callback: Callback) -> Result<(), Callback> {
        let mut state = self.node.state.lock();
        if self.node.cancelled.load(Ordering::Relaxed) {
            return Err(callback);
        }
        state.callbacks.insert(key, callback);
        Ok(())
    }
}

/// Keys grow, so that a map ordered by key is ordered by time of registration.
fn next_key() -> u64 {
    static NEXT: ids::AtomicU64 = ids::AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Node {
    fn new(parent: Option<Link>) -> Self {
        Self {
            cancelled: AtomicBool::new(false),
            state: Mutex::new(State::default()),
            callback_done: Condvar::new(),
            parent,
        }
    }

    /// Makes the request at this node. Its children are left in `below`, for the caller to go on with.
    fn cancel(&self, below: &mut VecDeque<Arc<Node>>) -> bool {
        let mut state = self.state.lock();
        // Relaxed: only ever set under this lock.
        if self.cancelled.load(Ordering::Relaxed) {
            return false;
        }
        // Release: pairs with the Acquire in `is_cancelled`, so that who sees the flag also sees what led to it.
        self.cancelled.store(true, Ordering::Release);
        // One by one, so that a registration dropped meanwhile still stops a callback that has not begun.
        while let Some((key, callback)) = state.callbacks.pop_first() {
            match callback {
                Callback::Child(child) => below.extend(child.upgrade()),
                Callback::User(callback) => {
                    state.running = Some((key, thread::current().id()));
                    drop(state);
                    discard(contain(|| outside_any_task(callback)));
                    state = self.state.lock();
                    state.running = None;
                    self.callback_done.notify_all();
                }
            }
        }
        true
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // A list and no recursion here, too: the last child of a long chain may be the last owner of all of it.
        let mut link = self.parent.take();
        while let Some(Link { parent, key }) = link {
            // Unlike a registration this need not wait: nobody can see this token any more.
            let callback = parent.node.state.lock().callbacks.remove(&key);
            drop(callback);
            link = Arc::into_inner(parent.node).and_then(|mut node| node.parent.take());
        }
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("cancelled", &self.is_cancelled()).finish()
    }
}

/// Keeps a callback registered with a [`CancelToken`]; dropping it takes the callback back.
///
/// # Blocking
///
/// If the callback is running on another thread, the drop waits for it to end, so that afterwards nothing it refers to
/// is in use any more. (On the thread that runs the callback it does not wait for itself.) Therefore never drop a
/// registration while holding a lock that its callback takes.
#[must_use = "dropping it takes the callback back at once"]
pub struct Registration {
    place: Option<(CancelToken, u64)>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let Some((token, key)) = self.place.take() else { return };
        let mut state = token.node.state.lock();
        if let Some(callback) = state.callbacks.remove(&key) {
            drop(state);
            discard(callback);
            return;
        }
        while state.running.is_some_and(|(running, by)| running == key && by != thread::current().id()) {
            state = token.node.callback_done.wait(state);
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").finish_non_exhaustive()
    }
}

/// Runs `f` as a step that must not be cut off half-way: no blocking call in it obeys the current token.
///
/// For clean-up, for the last message of a protocol, for the second of two writes that belong together. The request is
/// not lost: [`CancelToken::current`] shows it inside and after the step. Tasks that run inline inside the step are
/// shielded too.
///
/// ```
/// use executor::{CancelToken, Latch, masked};
///
/// let token = CancelToken::new();
/// token.cancel();
/// token.attach(|| {
///     let latch = Latch::new(0);
///     assert!(latch.wait().is_err());
///     assert!(masked(|| latch.wait()).is_ok());
///     assert!(CancelToken::current().is_cancelled());
/// });
/// ```
pub fn masked<R>(f: impl FnOnce() -> R) -> R {
    struct Unmask(usize);
    impl Drop for Unmask {
        fn drop(&mut self) {
            with_frames(|frames| {
                if let Some(frame) = frames.get_mut(self.0) {
                    frame.masked -= 1;
                }
            });
        }
    }

    let top = with_frames(|frames| {
        let top = frames.len().checked_sub(1)?;
        frames[top].masked += 1;
        Some(top)
    });
    let _unmask = top.flatten().map(Unmask);
    f()
}

// ----- the stack of frames of a thread -----

/// What the handle of a running task has to know about the task's token.
pub(crate) trait RunningTask: Send + Sync {
    /// The task has made its token. Cancels it if the task was cancelled already.
    fn token_made(&self, token: &CancelToken);

    /// Whether the task was cancelled while it runs.
    fn was_cancelled(&self) -> bool;
}

struct Frame {
    token: Option<CancelToken>,
    task: Option<Arc<dyn RunningTask>>,
    masked: u32,
    /// Nothing is current here. The token, if there is one, is only the parent of those of tasks.
    outside: bool,
}

thread_local! {
    static FRAMES: RefCell<Vec<Frame>> = RefCell::new(Vec::new());
}

/// `None` only while the thread ends and its locals are gone: then nothing is current.
#[inline]
fn with_frames<R>(f: impl FnOnce(&mut Vec<Frame>) -> R) -> Option<R> {
    FRAMES.try_with(|frames| f(&mut frames.borrow_mut())).ok()
}

/// Takes the top frame off the stack. Guards end in the reverse order of their begin, so that is the guard's own.
#[must_use]
pub(crate) struct FrameGuard {
    pushed: bool,
}

impl Drop for FrameGuard {
    #[inline]
    fn drop(&mut self) {
        if self.pushed {
            // What is in the frame is dropped after the borrow has ended: its token might be the last of its kind.
            let top = with_frames(|frames| {
                let Frame { token, task, .. } = frames.last_mut()?;
                let in_it = (token.take(), task.take());
                frames.truncate(frames.len() - 1);
                Some(in_it)
            });
            drop(top);
        }
    }
}

/// Begins an empty frame. What few of them have is filled in by [`fill`]: to hand it in here would cost every task, since
/// it goes through memory.
#[inline]
fn push() -> FrameGuard {
    let empty = Frame { token: None, task: None, masked: 0, outside: false };
    let pushed = with_frames(|frames| frames.push(empty)).is_some();
    FrameGuard { pushed }
}

fn fill(fill: impl FnOnce(&mut Frame)) {
    with_frames(|frames| frames.last_mut().map(fill));
}

/// Runs a user's code that belongs to no task, on whichever thread: a callback, a hook, a handler, the `Drop` of a value
/// that nobody wants. The current token is not that of the task that happens to be under way on this thread, and waits
/// are cut short by none.
pub(crate) fn outside_any_task<R>(f: impl FnOnce() -> R) -> R {
    let _frame = push();
    fill(|frame| frame.outside = true);
    f()
}

/// Enters a task. `task` is what its handle shares with it, if there is a handle.
#[inline]
pub(crate) fn enter_task(task: Option<Arc<dyn RunningTask>>) -> FrameGuard {
    let guard = push();
    if let Some(task) = task {
        fill(|frame| frame.task = Some(task));
    }
    guard
}

/// The current token for a wait: none on a thread without one and none inside [`masked`].
pub(crate) fn current_for_wait() -> Option<CancelToken> {
    with_frames(|frames| if frames.last()?.masked > 0 { None } else { materialise(frames) }).flatten()
}

/// Whether a blocking call on this thread should refuse to begin. Unlike [`current_for_wait`] it makes no token.
pub(crate) fn check_current() -> Result<(), Cancelled> {
    fn is_cancelled(frames: &[Frame]) -> bool {
        let Some((top, below)) = frames.split_last() else { return false };
        if top.masked > 0 {
            return false;
        }
        match (&top.token, &top.task) {
            (Some(token), _) => token.is_cancelled(),
            (None, Some(task)) if task.was_cancelled() => true,
            _ => !top.outside && is_cancelled(below),
        }
    }
    let in_a_task = |frames: &[Frame]| frames.last().is_some_and(|top| !top.outside);
    match with_frames(|frames| in_a_task(frames) && is_cancelled(frames)) {
        Some(true) => Err(Cancelled),
        _ => Ok(()),
    }
}

/// The token of the top frame, made if need be as a child of the frame below. `None` without a frame and outside any task.
fn materialise(frames: &mut [Frame]) -> Option<CancelToken> {
    let (top, below) = frames.split_last_mut()?;
    if top.outside {
        return None;
    }
    if top.token.is_none() {
        let token = parent_of_the_next(below).map_or_else(CancelToken::new, |parent| parent.child());
        if let Some(task) = &top.task {
            task.token_made(&token);
        }
        top.token = Some(token);
    }
    top.token.clone()
}

/// The parent of the token of a task that runs on top of these frames.
fn parent_of_the_next(frames: &mut [Frame]) -> Option<CancelToken> {
    match frames.last()? {
        top if top.masked > 0 => None,
        top if top.outside => top.token.clone(),
        _ => materialise(frames),
    }
}
