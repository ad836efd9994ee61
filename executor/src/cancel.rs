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
//! A token goes from *live* to *cancelled* once and never back; the first call of [`cancel`](CancelToken::cancel)
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
//! # The order of a cancel
//!
//! 1. The token and all below it are *marked*: from then on [`is_cancelled`](CancelToken::is_cancelled) says so.
//! 2. Threads that wait in this crate under one of these tokens are woken.
//! 3. Users' callbacks run, outside all locks.
//!
//! A callback may take long, or wait for a thread that one of the tokens is to release; so it comes last. Any number of
//! threads may cancel tokens of one tree at the same time. Each of them marks what it finds unmarked, so a `cancel` that
//! has returned has the whole tree below it marked, whatever it returned. The callbacks of a token are run by one of them:
//! the one that *claims* the token, because it was the first to mark it or because it has claimed the one above.
//!
//! # Invariants
//!
//! 1. `cancelled` is set under the lock of `state`, so a thread that adds a child, a waiter or a callback under that lock
//!    either sees it set or is found by the canceller.
//! 2. Only the thread that set `claimed` runs callbacks, in the order in which they were registered, one at a time,
//!    outside the lock.
//! 3. `settled` is set when the token and all below it are marked. It spares a cancel that claims nothing the way down.
//! 4. No two of these locks are held at once.
//! 5. When [`Registration`]'s drop has returned, its callback is not running and never will be.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::task::Waker;

use crate::callbacks;
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
    settled: AtomicBool,
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
    // Ordered by key, that is, by time of registration.
    children: BTreeMap<u64, Weak<Node>>,
    waiters: BTreeMap<u64, Waker>,
    callbacks: BTreeMap<u64, Callback>,
    claimed: bool,
    running: Option<(u64, ThreadId)>,
}

type Callback = Box<dyn FnOnce() + Send>;

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
        let below = Arc::downgrade(&child.node);
        if self.if_live(|state| state.children.insert(key, below)).is_none() {
            child.cancel();
        }
        child
    }

    /// The token of the task that the calling thread is running.
    ///
    /// On a thread that runs no task each call makes a fresh token, which no other code has, so functions that ask for it
    /// can be called from anywhere. A callback ([`on_cancel`](Self::on_cancel),
    /// [`on_done`](crate::TaskHandle::on_done)), a [hook](crate::Hooks) of a worker, and the `Drop` of what a task that was
    /// called off has captured or of a result that is not wanted belong to no task either, whichever thread they run on:
    /// there, too, the token is fresh, and no request cuts a blocking call short.
    ///
    /// Only the owner of a task (through its handle) or of a pool is meant to cancel what this
    /// returns; a task that wants to cancel a part of itself makes a [`child`](Self::child).
    pub fn current() -> Self {
        FRAMES.try_with(|frames| materialise(&mut frames.borrow_mut())).ok().flatten().unwrap_or_default()
    }

    /// Asks all holders of this token, and of its children, to stop.
    ///
    /// First this token and all below it are marked, so that every thread that looks sees the request. Then each thread that
    /// waits under one of them in a blocking call of this crate is woken. Last, the callbacks of
    /// [`on_cancel`](Self::on_cancel) run on this thread, before the call returns: this token's first, then those of its
    /// children, level by level. So in a callback all these tokens are cancelled already, and it may wait for a thread
    /// that one of them has released.
    ///
    /// Returns true if this call made the request, and false if it had been made before. Then, too, the token and all
    /// below it are marked when the call returns; but callbacks may still be running on the thread that was first, or be
    /// about to, as they are when one of them makes this very call. What happened before the call is visible to each
    /// thread that sees the request.
    pub fn cancel(&self) -> bool {
        self.begin_cancel().map(Callbacks::run).is_some()
    }

    /// Marks the tree and wakes the waiters. What is left to do are the callbacks. `None` if the request had been made.
    pub(crate) fn begin_cancel(&self) -> Option<Callbacks> {
        // A list and no recursion: a chain of children can be longer than the stack is deep.
        let mut tree = vec![Found { node: Arc::clone(&self.node), ours: true, calls_back: false }];
        let mut waiters = Vec::new();
        let mut looked_at = 0;
        while let Some(found) = tree.get_mut(looked_at) {
            let node = Arc::clone(&found.node);
            let mut state = node.state.lock();
            // Relaxed: only ever set under this lock. On the way down, another cancel may have marked what this one claims.
            let claimed = if looked_at == 0 { node.cancelled.load(Ordering::Relaxed) } else { state.claimed };
            found.ours &= !claimed;
            looked_at += 1;
            // Acquire: pairs with the Release below.
            if !found.ours && node.settled.load(Ordering::Acquire) {
                continue;
            }
            found.calls_back = found.ours && !state.callbacks.is_empty();
            state.claimed |= found.ours;
            // Release: pairs with the Acquire in `is_cancelled`, so that a thread that sees the flag sees what led to it.
            node.cancelled.store(true, Ordering::Release);
            waiters.extend(std::mem::take(&mut state.waiters).into_values());
            // What is below a token that another thread has claimed is that thread's.
            let ours = found.ours;
            let below = state.children.values().filter_map(Weak::upgrade);
            tree.extend(below.map(|node| Found { node, ours, calls_back: false }));
        }
        for found in &tree {
            found.node.settled.store(true, Ordering::Release);
        }
        waiters.into_iter().for_each(Waker::wake);
        let first = tree.first().is_some_and(|top| top.ours);
        let to_call = tree.into_iter().filter(|found| found.calls_back).map(|found| found.node);
        first.then(|| Callbacks(to_call.collect()))
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
    /// The callback runs once at most, on the thread that cancels, outside any task; at once and on this thread if the
    /// token is already cancelled. Callbacks run in order of registration, after everything in this crate that waits
    /// under the token was let go (see [`cancel`](Self::cancel)). A panic in one does not keep the others from running.
    /// Dropping the [`Registration`] takes the callback back; [`Registration::keep`] leaves it. So a task that is blocked in
    /// this crate, is woken and drops its registration may be quicker than the callback, which then does not run.
    ///
    /// The thread that cancels waits for the callback, so keep it short. Callbacks that bring about others (by a `cancel`,
    /// or by completing a [`Promise`](crate::Promise)) nest to a depth of 32. One that is due deeper down runs on the same
    /// thread when the one around it has returned or blocks in this crate.
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
        let mut callback: Option<Callback> = Some(Box::new(callback));
        let registered = self.if_live(|state| {
            state.callbacks.extend(callback.take().map(|callback| (key, callback)));
        });
        if let Some(callback) = callback {
            call_outside(callback);
        }
        Registration { place: registered.map(|()| (self.clone(), key)) }
    }

    /// Has a thread of this crate that waits woken when the request comes. `None` if it is there.
    pub(crate) fn wake_on_cancel(&self, waiter: &Waker) -> Option<WaitRegistration> {
        let key = next_key();
        self.if_live(|state| state.waiters.insert(key, waiter.clone()))?;
        Some(WaitRegistration { token: self.clone(), key })
    }

    /// Runs `f` with this token as the thread's current one: carries a token to a thread of one's own.
    ///
    /// The exception is the destructor of a thread-local value. If it runs after that of this crate's own value, as it may
    /// when the thread ends, nothing is current any more, and `f` runs without a current token. Calls on the token itself,
    /// such as [`sleep`](Self::sleep) and [`check`](Self::check), work there, too.
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
        let _frame = push();
        fill(|frame| (frame.outside, frame.token) = (true, Some(self.clone())));
        f()
    }

    /// Does something to the state of a token that is not cancelled.
    fn if_live<R>(&self, f: impl FnOnce(&mut State) -> R) -> Option<R> {
        let mut state = self.node.state.lock();
        // Relaxed: only ever set under this lock.
        (!self.node.cancelled.load(Ordering::Relaxed)).then(|| f(&mut state))
    }
}

/// What a cancel finds on its way down.
struct Found {
    node: Arc<Node>,
    /// Claimed by this cancel, or, before it was looked at, found below a token that was.
    ours: bool,
    calls_back: bool,
}

/// The callbacks of a tree that was cancelled, to be run by the thread that was first to cancel it.
#[must_use]
#[derive(Default)]
pub(crate) struct Callbacks(Vec<Arc<Node>>);

impl Callbacks {
    pub(crate) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    fn run(self) {
        if !self.are_none() {
            call_outside(|| self.run_here());
        }
    }

    /// The same for a caller that sees to it that this is outside of any task.
    pub(crate) fn run_here(self) {
        for node in self.0 {
            node.run_callbacks();
        }
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
            settled: AtomicBool::new(false),
            state: Mutex::new(State::default()),
            callback_done: Condvar::new(),
            parent,
        }
    }

    /// Runs the callbacks that are still registered.
    fn run_callbacks(&self) {
        let mut state = self.state.lock();
        // One by one, so that a registration dropped meanwhile still stops a callback that has not begun.
        while let Some((key, callback)) = state.callbacks.pop_first() {
            state.running = Some((key, thread::current().id()));
            drop(state);
            discard(contain(callback));
            state = self.state.lock();
            state.running = None;
            self.callback_done.notify_all();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // No handle on this token is left to cancel it. Callbacks are left only if their registrations were.
        let callbacks = std::mem::take(&mut self.state.lock().callbacks);
        if !callbacks.is_empty() {
            outside_any_task(|| callbacks.into_values().for_each(discard));
        }
        // A list and no recursion here, too: the last child of a long chain may be the last owner of all of it.
        let mut link = self.parent.take();
        while let Some(Link { parent, key }) = link {
            parent.node.state.lock().children.remove(&key);
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

impl Registration {
    /// Leaves the callback registered without this guard.
    ///
    /// It can then no longer be taken back. It runs when the token is cancelled, and is dropped unrun when the last copy of
    /// the token and the last of its children are gone. Until then it takes memory, with all that it has captured: on a
    /// token that lives for long, such as that of a program, one for each call. If it has captured the token itself, that
    /// is until the token is cancelled.
    pub fn keep(mut self) {
        self.place = None;
    }
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

/// Keeps the waker of a waiting thread with a token. Its drop does not wait: a wake-up that comes late does no harm.
#[must_use]
pub(crate) struct WaitRegistration {
    token: CancelToken,
    key: u64,
}

impl Drop for WaitRegistration {
    fn drop(&mut self) {
        let waiter = self.token.node.state.lock().waiters.remove(&self.key);
        drop(waiter);
    }
}

/// Runs `f` as a step that must not be cut off half-way: no blocking call in it obeys the current token.
///
/// For clean-up, for the last message of a protocol, for the second of two writes that belong together. The request is
/// not lost: [`CancelToken::current`] shows it inside and after the step, and so does [`check`](CancelToken::check).
///
/// The current token is ignored however a wait comes by it: by itself, in `CancelToken::current().sleep(..)`, in an
/// [`attach`](CancelToken::attach) of the same token inside the step, or in tasks that run inline there. *Another* token
/// is obeyed by a wait that is told to, with `other.sleep(..)` or `other.attach(..)`: so a step can have a limit of its
/// own. Make that one with [`CancelToken::new`]; a child of the current token is cancelled together with it, and
/// counts as another.
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
/// that is not wanted. The current token is not that of the task that happens to be under way on this thread, and waits
/// are cut short by none.
pub(crate) fn outside_any_task<R>(f: impl FnOnce() -> R) -> R {
    let something_is_current = with_frames(|frames| !frames.is_empty()).unwrap_or(false);
    let _frame = something_is_current.then(push);
    if something_is_current {
        fill(|frame| frame.outside = true);
    }
    f()
}

/// Calls a user's code outside any task, and contains a panic in it. Deep inside other callbacks it is put off.
pub(crate) fn call_outside(callback: impl FnOnce() + 'static) {
    callbacks::call(|| outside_any_task(callback));
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
    let current = |frames: &mut Vec<Frame>| {
        if frames.last()?.masked > 0 {
            return None;
        }
        let token = materialise(frames)?;
        (!shields(frames, &token)).then_some(token)
    };
    with_frames(current).flatten()
}

/// Whether a step of this thread that is [`masked`] is shielded from this very token.
pub(crate) fn is_shielded_from(token: &CancelToken) -> bool {
    with_frames(|frames| shields(frames, token)).unwrap_or(false)
}

fn shields(frames: &[Frame], token: &CancelToken) -> bool {
    let is_it = |own: &CancelToken| Arc::ptr_eq(&own.node, &token.node);
    frames.iter().any(|frame| frame.masked > 0 && frame.token.as_ref().is_some_and(is_it))
}

/// Whether a blocking call on this thread should refuse to begin. Unlike [`current_for_wait`] it makes no token.
pub(crate) fn check_current() -> Result<(), Cancelled> {
    fn is_cancelled(frames: &[Frame]) -> bool {
        let Some((top, below)) = frames.split_last() else { return false };
        if top.masked > 0 {
            return false;
        }
        match (&top.token, &top.task) {
            (Some(token), _) => token.is_cancelled() && !shields(below, token),
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
