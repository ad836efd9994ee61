//! The tree of tokens: which tokens a cancellation marks, which threads it wakes, and which callbacks it
//! calls.
//!
//! The [module `cancel`](super) explains the steps of a cancellation, and lists the invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::task::Waker;

use super::cancelled::Cancelled;
use super::outside::call_outside;
use super::reason::{CancelKind, CancelReason};
use crate::panics::{UserCode, contain, discard};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, ThreadId};
use crate::sync::{Arc, Condvar, Mutex, Weak, ids};
use crate::time;

/// A token for a request to stop: the request can be made once, all threads that have the token can see the
/// request, and all children of the token inherit the request.
///
/// All clones of a token are the same token. To be able to stop only one task, give this task its own
/// [`child`](Self::child).
///
/// ```
/// use executor::CancelToken;
///
/// let token = CancelToken::new();
/// let same = token.clone();
/// let part = token.child();
/// same.cancel();
/// assert!(token.is_cancelled() && part.is_cancelled());
/// ```
///
/// # What a new task inherits
///
/// While a thread runs a task, the task's token is [current](Self::current) on that thread. Suppose that the
/// task makes another task, or starts a thread. The table tells whether this new work is cut short in three
/// cases: the current token is cancelled; the deadline of the current token passes; the new work was made in
/// a [`masked`](crate::masked) step, and the current token is cancelled.
///
/// | how the task is made | cancel | deadline | masked, cancel |
/// |---|---|---|---|
/// | `execute`, `submit`, `schedule`, on threads of an executor | no | no | no |
/// | `submit`, of a task [`under`](crate::FutureTask::under) the current token | yes | yes | yes |
/// | `submit`, if the task runs on the calling thread | yes | yes | no |
/// | [`fork`](crate::fork_join::fork()) | yes | yes | no |
/// | [`join`](crate::fork_join::join), [`par_for_each`](crate::fork_join::par_for_each) | yes | yes | no |
/// | [`scope`](crate::ExecutorExt::scope) | yes | yes | no |
/// | [`invoke_all`](crate::ExecutorExt::invoke_all), [`invoke_any`](crate::ExecutorExt::invoke_any) | yes | yes | no |
/// | a callback, a hook | no | no | no |
/// | a thread that the task starts | no | no | no |
/// | such a thread, under [`attach`](Self::attach) | yes | yes | yes |
///
/// Every executor adds its own root token. So `shutdown_now` reaches all tasks of a pool, no matter how they
/// were made.
#[derive(Clone)]
pub struct CancelToken {
    pub(super) node: Arc<TokenNode>,
}

pub(super) struct TokenNode {
    cancelled: AtomicBool,
    settled: AtomicBool,
    pub(super) state: Mutex<TokenState>,
    pub(super) callback_done: Condvar,
    parent: Option<Link>,
    /// All parents except the first, if the token is linked to several tokens.
    other_parents: Vec<Link>,
}

impl TokenNode {
    /// Returns the parents of this token.
    pub(super) fn parents(&self) -> impl Iterator<Item = &CancelToken> {
        self.parent.iter().chain(&self.other_parents).map(|link| &link.parent)
    }
}

/// The link from a child to a parent: the parent, and the key of the child in the parent's map.
struct Link {
    parent: CancelToken,
    key: u64,
}

#[derive(Default)]
pub(super) struct TokenState {
    // The entries are ordered by key: the child that was registered first has the smallest key.
    children: BTreeMap<u64, Weak<TokenNode>>,
    pub(super) waiters: BTreeMap<u64, Waker>,
    pub(super) callbacks: BTreeMap<u64, UserCode>,
    claimed: bool,
    pub(super) running: Option<(u64, ThreadId)>,
    /// The reason why the token was cancelled; `Some` as soon as the token is marked.
    reason: Option<CancelReason>,
    /// The timer's entry that cancels the token at its deadline.
    pub(super) deadline: Option<time::TimerEntry>,
    /// True if the token belongs to a task with a time limit. When the time is up, the task and the token are
    /// cancelled.
    pub(super) is_limited: bool,
}

impl CancelToken {
    /// Makes a token without a parent: the top of a new tree.
    ///
    /// ```
    /// assert!(!executor::CancelToken::new().is_cancelled());
    /// ```
    pub fn new() -> Self {
        Self::below(None, Vec::new())
    }

    /// Makes a child: a token that is cancelled together with this token, and can also be cancelled alone.
    ///
    /// A child of a cancelled token is cancelled from the start. As long as a child exists, its parent has a
    /// map entry for it.
    ///
    /// ```
    /// use executor::CancelToken;
    ///
    /// let request = CancelToken::new();
    /// let (first, second) = (request.child(), request.child());
    /// first.cancel();
    /// assert!(!request.is_cancelled());
    /// request.cancel();
    /// assert!(second.is_cancelled());
    /// ```
    pub fn child(&self) -> Self {
        Self::below(Some(self.link()), Vec::new())
    }

    /// Makes a token that is the child of several tokens. The new token is cancelled as soon as one of its
    /// parents is cancelled, and can also be cancelled alone.
    ///
    /// Use a linked token for work that can be stopped in more than one way: for example, if a client's
    /// request is cancelled, or if the pool is shut down. If one of the tokens is already cancelled, the new
    /// token is cancelled from the start. If `tokens` is empty, the new token is like a token made by
    /// [`new`](Self::new).
    ///
    /// ```
    /// use executor::CancelToken;
    ///
    /// let (request, service) = (CancelToken::new(), CancelToken::new());
    /// let both = CancelToken::linked([&request, &service]);
    /// service.cancel_because("the service is being restarted");
    /// assert_eq!(both.reason().unwrap().message(), Some("the service is being restarted"));
    /// assert!(!request.is_cancelled());
    /// ```
    #[doc(alias = "CreateLinkedTokenSource")]
    pub fn linked<'a>(tokens: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut links = tokens.into_iter().map(Self::link);
        let first = links.next();
        Self::below(first, links.collect())
    }

    fn link(&self) -> Link {
        Link { parent: self.clone(), key: next_key() }
    }

    fn below(parent: Option<Link>, other_parents: Vec<Link>) -> Self {
        let made = Self {
            node: Arc::new(TokenNode {
                cancelled: AtomicBool::new(false),
                settled: AtomicBool::new(false),
                state: Mutex::new(TokenState::default()),
                callback_done: Condvar::new(),
                parent,
                other_parents,
            }),
        };
        for Link { parent, key } in made.node.parent.iter().chain(&made.node.other_parents) {
            let node = Arc::downgrade(&made.node);
            if parent.if_live(|state| state.children.insert(*key, node)).is_none() {
                made.cancel_as(parent.reason().map(|reason| reason.inherited()));
            }
        }
        made
    }

    /// Asks all code that has this token, or one of its descendants, to stop.
    ///
    /// First this token and all its descendants are marked, so that every later check sees the request. Then
    /// the call wakes each thread that waits in this crate, if its wait obeys one of these tokens. Last, the
    /// callbacks of [`on_cancel`](Self::on_cancel) run on this thread, before the call returns: first the
    /// callbacks of this token, then the callbacks of its children, level by level. So when a callback runs,
    /// its token and all descendants of that token are already cancelled, and the threads whose waits obey
    /// these tokens were woken. Therefore a callback can wait for one of the woken threads.
    ///
    /// Returns true if this call made the request, and false if the request had been made before. In both
    /// cases, the token and all its descendants are marked when the call returns. If the call returns false,
    /// some callbacks may still be running, or may not have begun: the thread that made the first request
    /// runs them. For example, if a callback cancels its own token again, this call returns false. All code
    /// that sees the request also sees everything that happened before the call.
    ///
    /// ```
    /// let token = executor::CancelToken::new();
    /// assert!(token.cancel());
    /// assert!(!token.cancel()); // the request was made before
    /// assert!(token.check().is_err());
    /// ```
    ///
    /// # Blocking
    /// Blocks until the callbacks that this call runs have ended.
    #[doc(alias = "Thread.interrupt")]
    pub fn cancel(&self) -> bool {
        self.cancel_as(None)
    }

    /// Cancels the token and gives a reason: a text, or a [`CancelReason`], which can carry a value of any
    /// type.
    ///
    /// ```
    /// # let token = executor::CancelToken::new();
    /// token.cancel_because("the user pressed Esc");
    /// assert_eq!(token.check().unwrap_err().to_string(), "the task was cancelled: the user pressed Esc");
    /// ```
    ///
    /// # Blocking
    /// Blocks as [`cancel`](Self::cancel) does.
    pub fn cancel_because(&self, reason: impl Into<CancelReason>) -> bool {
        self.cancel_as(Some(reason.into().given_here()))
    }

    fn cancel_as(&self, reason: Option<CancelReason>) -> bool {
        let reason = reason.unwrap_or_else(|| CancelReason::of(CancelKind::Requested));
        self.begin_cancel(&reason).map(Callbacks::run).is_some()
    }

    /// Returns why the token was cancelled, or `None` if it is not cancelled.
    ///
    /// ```
    /// let token = executor::CancelToken::new();
    /// assert!(token.reason().is_none());
    /// token.cancel_because("the disk is full");
    /// assert_eq!(token.reason().unwrap().message(), Some("the disk is full"));
    /// ```
    pub fn reason(&self) -> Option<CancelReason> {
        self.node.state.lock().reason.clone()
    }

    /// Marks this token and all its descendants, and wakes their waiters. Returns the callbacks, which the
    /// caller must run, or `None` if the request had been made before.
    pub(crate) fn begin_cancel(&self, reason: &CancelReason) -> Option<Callbacks> {
        let mut descent = Descent::from(&self.node, reason);
        while descent.mark_next() {}
        let Descent { tree, waiters, deadlines, .. } = descent;
        for found in &tree {
            found.node.settled.store(true, Ordering::Release);
        }
        waiters.into_iter().for_each(Waker::wake);
        drop(deadlines); // after the locks: this takes the timer's lock
        let first = tree.first().is_some_and(|top| top.ours);
        let to_call = tree.into_iter().filter(|found| found.calls_back).map(|found| found.node);
        first.then(|| Callbacks(to_call.collect()))
    }

    /// Returns whether this token or one of its ancestors was cancelled.
    ///
    /// ```
    /// let token = executor::CancelToken::new();
    /// assert!(!token.is_cancelled());
    /// token.cancel();
    /// assert!(token.is_cancelled());
    /// ```
    #[doc(alias = "isInterrupted")]
    pub fn is_cancelled(&self) -> bool {
        // Acquire: pairs with the Release in `mark_next`.
        self.node.cancelled.load(Ordering::Acquire)
    }

    /// Returns an error if the token is cancelled. Call `check` once per unit of work, and pass the error on
    /// with `?`.
    ///
    /// ```
    /// use executor::{CancelToken, Cancelled};
    ///
    /// let token = CancelToken::new();
    /// assert_eq!(token.check(), Ok(()));
    /// token.cancel();
    /// assert_eq!(token.check(), Err(Cancelled));
    /// ```
    ///
    /// # Errors
    /// [`struct@Cancelled`] if the token is cancelled. The error has the [`reason`](Self::reason).
    #[doc(alias = "Thread.interrupted")]
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(self.cancelled()) } else { Ok(()) }
    }

    /// Makes the error for this token, which is cancelled.
    #[cold]
    pub(crate) fn cancelled(&self) -> Cancelled {
        Cancelled::because(self.reason())
    }

    /// Returns whether the two tokens are clones of each other.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
    }

    /// Runs `f` on the state of the token if the token is not cancelled.
    pub(super) fn if_live<R>(&self, f: impl FnOnce(&mut TokenState) -> R) -> Option<R> {
        let mut state = self.node.state.lock();
        // Relaxed is enough, because the flag is set only under this lock.
        (!self.node.cancelled.load(Ordering::Relaxed)).then(|| f(&mut state))
    }
}

/// The state of one cancellation, while it visits a token and all descendants of the token.
struct Descent<'a> {
    reason: &'a CancelReason,
    /// The tokens that were found. The cancellation uses a list and not recursion, because recursion along a
    /// long chain of children would overflow the stack.
    tree: Vec<FoundToken>,
    /// How many tokens of the list were visited.
    looked_at: usize,
    /// The linked tokens that were visited. A token with two parents can be reached on two paths. If both
    /// parents have two parents, the token can be reached on four paths, and so on.
    seen: BTreeSet<(usize, bool)>,
    waiters: Vec<Waker>,
    deadlines: Vec<time::TimerEntry>,
}

struct FoundToken {
    node: Arc<TokenNode>,
    /// True if this cancellation claims the token. Before this token is visited, the field tells whether this
    /// cancellation claims the token's parent.
    ours: bool,
    calls_back: bool,
}

impl<'a> Descent<'a> {
    fn from(top: &Arc<TokenNode>, reason: &'a CancelReason) -> Self {
        let tree = vec![FoundToken { node: Arc::clone(top), ours: true, calls_back: false }];
        Self { reason, tree, looked_at: 0, seen: BTreeSet::new(), waiters: Vec::new(), deadlines: Vec::new() }
    }

    /// Marks the next token, and finds its children. Returns false if no token is left.
    fn mark_next(&mut self) -> bool {
        let is_top = self.looked_at == 0;
        let Some(found) = self.tree.get_mut(self.looked_at) else { return false };
        self.looked_at += 1;
        let node = Arc::clone(&found.node);
        if !node.other_parents.is_empty() && !self.seen.insert((Arc::as_ptr(&node).addr(), found.ours)) {
            return true;
        }
        let mut state = node.state.lock();
        // Relaxed is enough, because the flag is set only under this lock. A token that this cancellation
        // claims may already have been marked by another cancellation.
        let marked = node.cancelled.load(Ordering::Relaxed);
        found.ours &= !(if is_top { marked } else { state.claimed });
        // Acquire: pairs with the Release in `begin_cancel`.
        if !found.ours && node.settled.load(Ordering::Acquire) {
            return true;
        }
        found.calls_back = found.ours && !state.callbacks.is_empty();
        state.claimed |= found.ours;
        if !marked {
            state.reason = Some(if is_top { self.reason.clone() } else { self.reason.inherited() });
        }
        // Release: pairs with the Acquire in `is_cancelled`. A thread that sees the flag also sees everything
        // that happened before the cancellation.
        node.cancelled.store(true, Ordering::Release);
        self.waiters.extend(std::mem::take(&mut state.waiters).into_values());
        self.deadlines.extend(state.deadline.take());
        // If another thread has claimed this token, that thread claims the children, too.
        let ours = found.ours;
        let below = state.children.values().filter_map(Weak::upgrade);
        self.tree.extend(below.map(|node| FoundToken { node, ours, calls_back: false }));
        true
    }
}

/// The callbacks of a token that was cancelled, and of its descendants. The thread that was first to cancel
/// the token must run these callbacks.
#[must_use]
#[derive(Default)]
pub(crate) struct Callbacks(Vec<Arc<TokenNode>>);

impl Callbacks {
    pub(crate) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn run(self) {
        if !self.are_none() {
            call_outside(|| self.run_here());
        }
    }

    /// Runs the callbacks, for a caller that is already outside any task.
    pub(crate) fn run_here(self) {
        for node in self.0 {
            node.run_callbacks();
        }
    }
}

/// Returns the next key. Each new key is larger than the last key, so in a map ordered by key, the entries
/// are in the order of registration.
pub(super) fn next_key() -> u64 {
    static NEXT: ids::AtomicU64 = ids::AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl TokenNode {
    /// Runs the callbacks that are still registered.
    fn run_callbacks(&self) {
        let mut state = self.state.lock();
        // The callbacks are taken out one at a time. So the drop of a registration can still deregister a
        // callback that has not begun.
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

impl Drop for TokenNode {
    fn drop(&mut self) {
        // A token that is being dropped can no longer be cancelled. The token still has callbacks only if
        // `Registration::keep` was called.
        let state = self.state.get_mut();
        let (callbacks, reason) = (std::mem::take(&mut state.callbacks), state.reason.take());
        if !callbacks.is_empty() || reason.is_some() {
            // A callback may have captured the last copy of a second token. A callback of the second token
            // may have captured the last copy of a third token, and so on.
            call_outside(move || {
                callbacks.into_values().for_each(discard);
                discard(reason);
            });
        }
        // The drop uses a loop and not recursion, because the last child may be the last owner of a long
        // chain of parents.
        let mut links = std::mem::take(&mut self.other_parents);
        let mut next = self.parent.take();
        while let Some(Link { parent, key }) = next {
            parent.node.state.lock().children.remove(&key);
            let mut last_of_it = Arc::into_inner(parent.node);
            if let Some(node) = &mut last_of_it {
                links.append(&mut node.other_parents);
            }
            next = last_of_it.and_then(|mut node| node.parent.take()).or_else(|| links.pop());
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
