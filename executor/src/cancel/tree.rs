//! The tree of tokens: what a cancel marks, wakes and calls.
//!
//! The order of a cancel and the invariants are on the [page of the folder](super).

use std::collections::BTreeMap;
use std::fmt;
use std::task::Waker;

use super::outside::{call_outside, outside_any_task};
use crate::error::Cancelled;
use crate::panics::{contain, discard};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, ThreadId};
use crate::sync::{Arc, Condvar, Mutex, Weak, ids};

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

    /// Asks everybody who has this token, or a child of it, to stop.
    ///
    /// First this token and all below it are marked, so that everybody who looks sees the request. Then each thread that
    /// waits under one of them in a blocking call of this crate is woken. Last, the callbacks of
    /// [`on_cancel`](Self::on_cancel) run on this thread, before the call returns: this token's first, then those of its
    /// children, level by level. So in a callback all these tokens are cancelled already, and it may wait for a thread
    /// that one of them has released.
    ///
    /// Returns true if this call made the request, and false if it had been made before. Then, too, the token and all
    /// below it are marked when the call returns; but callbacks may still be running on the thread that was first, or be
    /// about to, as they are when one of them makes this very call. What happened before the call is visible to whoever
    /// sees the request.
    pub fn cancel(&self) -> bool {
        self.begin_cancel().map(Callbacks::run).is_some()
    }

    /// Marks the tree and wakes who waits. What is left to do are the callbacks. `None` if the request had been made.
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
            // Release: pairs with the Acquire in `is_cancelled`, so that who sees the flag also sees what led to it.
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
    /// Whoever cancels waits for the callback, so keep it short. Callbacks that bring about others (by a `cancel`, or by
    /// completing a [`Promise`](crate::Promise)) nest to a depth of 32. One that is due deeper down runs on the same
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

    /// Whether the two are clones of one token.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
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
        // Nobody can cancel this token any more. Callbacks are left only if their registrations were.
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
