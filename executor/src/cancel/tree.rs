//! The tree of tokens: what a cancel marks, which threads it wakes, and which callbacks it calls.
//!
//! The [page of the folder](super) has the order of a cancel, and the invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::task::Waker;

use super::cancelled::Cancelled;
use super::outside::call_outside;
use super::reason::{CancelKind, CancelReason};
use crate::panics::{contain, discard};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, ThreadId};
use crate::sync::{Arc, Condvar, Mutex, Weak, ids};
use crate::time;

/// A request to stop that can be made once, seen by many and passed down to children.
///
/// Clones are the same token. Give a task its own [`child`](Self::child) when it should be possible to stop
/// it alone.
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
    /// Only a token that is linked to several has any.
    other_parents: Vec<Link>,
}

impl TokenNode {
    /// Returns the tokens directly above.
    pub(super) fn parents(&self) -> impl Iterator<Item = &CancelToken> {
        self.parent.iter().chain(&self.other_parents).map(|link| &link.parent)
    }
}

/// The place of a child below its parent.
struct Link {
    parent: CancelToken,
    key: u64,
}

#[derive(Default)]
pub(super) struct TokenState {
    // Ordered by key, that is, by time of registration.
    children: BTreeMap<u64, Weak<TokenNode>>,
    pub(super) waiters: BTreeMap<u64, Waker>,
    pub(super) callbacks: BTreeMap<u64, CancelCallback>,
    claimed: bool,
    pub(super) running: Option<(u64, ThreadId)>,
    /// `Some` as soon as the token is marked.
    reason: Option<CancelReason>,
    /// The timer's entry that cancels the token at its deadline.
    pub(super) deadline: Option<time::TimerEntry>,
    /// The token belongs to a task with a time limit. The limit cancels the token, too.
    pub(super) is_limited: bool,
}

pub(super) type CancelCallback = Box<dyn FnOnce() + Send>;

impl CancelToken {
    /// Makes a token at the top of a tree of its own.
    pub fn new() -> Self {
        Self::below(None, Vec::new())
    }

    /// Makes a token that is cancelled with this one and can be cancelled alone.
    ///
    /// A child of a cancelled token is born cancelled. A child costs its parent one map entry while it lives.
    pub fn child(&self) -> Self {
        Self::below(Some(self.link()), Vec::new())
    }

    /// Makes a token that is the child of several: it is cancelled as soon as one of them is, and can be
    /// cancelled alone.
    ///
    /// Suits work that has more than one reason to stop: the request that it belongs to *and* the pool in
    /// which it runs. If one of the tokens is already cancelled, the new token is born cancelled. Without any
    /// tokens, it is like a token made by [`new`](Self::new).
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

    /// Asks all code that has this token, or a child of it, to stop.
    ///
    /// First this token and all tokens below it are marked, so that every later look sees the request. Then
    /// each thread that waits under one of them in a blocking call of this crate is woken. Last, the
    /// callbacks of [`on_cancel`](Self::on_cancel) run on this thread, before the call returns: first this
    /// token's, then those of its children, level by level. So in a callback all these tokens are already
    /// cancelled, and it can wait for a thread that one of them has released.
    ///
    /// Returns true if this call made the request, and false if the request had been made before. In both
    /// cases the token and all tokens below it are marked when the call returns. After false, callbacks may
    /// still run, or be about to run, on the thread that was first. That is so, for example, if one of these
    /// callbacks makes this very call. What happened before the call is visible to all code that sees the
    /// request.
    pub fn cancel(&self) -> bool {
        self.cancel_as(None)
    }

    /// Cancels the token and says why: with a text, or with a [`CancelReason`] that has a value of any type.
    ///
    /// ```
    /// # let token = executor::CancelToken::new();
    /// token.cancel_because("the user pressed Esc");
    /// assert_eq!(token.check().unwrap_err().to_string(), "the task was cancelled: the user pressed Esc");
    /// ```
    pub fn cancel_because(&self, reason: impl Into<CancelReason>) -> bool {
        self.cancel_as(Some(reason.into().given_here()))
    }

    fn cancel_as(&self, reason: Option<CancelReason>) -> bool {
        let reason = reason.unwrap_or_else(|| CancelReason::of(CancelKind::Requested));
        self.begin_cancel(&reason).map(Callbacks::run).is_some()
    }

    /// Returns why the token was cancelled. `None` while it is not.
    pub fn reason(&self) -> Option<CancelReason> {
        self.node.state.lock().reason.clone()
    }

    /// Marks the tree and wakes its waiters. Returns the callbacks, which the caller must run, or `None` if
    /// the request had been made before.
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

    /// Whether the request was made, at this token or at one above.
    pub fn is_cancelled(&self) -> bool {
        // Acquire: pairs with the Release in `cancel`.
        self.node.cancelled.load(Ordering::Acquire)
    }

    /// Returns an error once the request was made: call it once per unit of work and pass the error on with
    /// `?`.
    ///
    /// # Errors
    /// [`struct@Cancelled`] if the token is cancelled. The error has the [`reason`](Self::reason).
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(self.cancelled()) } else { Ok(()) }
    }

    /// Makes the error for this token, which is cancelled.
    #[cold]
    pub(crate) fn cancelled(&self) -> Cancelled {
        Cancelled::because(self.reason())
    }

    /// Whether the two tokens are clones of each other.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
    }

    /// Runs `f` on the state of the token, if it is not cancelled.
    pub(super) fn if_live<R>(&self, f: impl FnOnce(&mut TokenState) -> R) -> Option<R> {
        let mut state = self.node.state.lock();
        // Relaxed: only ever set under this lock.
        (!self.node.cancelled.load(Ordering::Relaxed)).then(|| f(&mut state))
    }
}

/// A cancel on its way down.
struct Descent<'a> {
    reason: &'a CancelReason,
    /// A list and no recursion: a chain of children can be deeper than the stack allows.
    tree: Vec<FoundToken>,
    /// How many tokens of the list were looked at.
    looked_at: usize,
    /// Tokens that were seen, because links can lead to a token on two paths, on four to a token two links
    /// below, and so on.
    seen: BTreeSet<(usize, bool)>,
    waiters: Vec<Waker>,
    deadlines: Vec<time::TimerEntry>,
}

struct FoundToken {
    node: Arc<TokenNode>,
    /// Whether this cancel claims the token. Before the look at the token: whether it claims the token above.
    ours: bool,
    calls_back: bool,
}

impl<'a> Descent<'a> {
    fn from(top: &Arc<TokenNode>, reason: &'a CancelReason) -> Self {
        let tree = vec![FoundToken { node: Arc::clone(top), ours: true, calls_back: false }];
        Self { reason, tree, looked_at: 0, seen: BTreeSet::new(), waiters: Vec::new(), deadlines: Vec::new() }
    }

    /// Marks the next token and finds those below it. Returns false if no token is left.
    fn mark_next(&mut self) -> bool {
        let is_top = self.looked_at == 0;
        let Some(found) = self.tree.get_mut(self.looked_at) else { return false };
        self.looked_at += 1;
        let node = Arc::clone(&found.node);
        if !node.other_parents.is_empty() && !self.seen.insert((Arc::as_ptr(&node).addr(), found.ours)) {
            return true;
        }
        let mut state = node.state.lock();
        // Relaxed: only ever set under this lock. On the way down, another cancel may have marked a token
        // that this one claims.
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
        // Release: pairs with the Acquire in `is_cancelled`. A thread that sees the flag also sees what led
        // to it.
        node.cancelled.store(true, Ordering::Release);
        self.waiters.extend(std::mem::take(&mut state.waiters).into_values());
        self.deadlines.extend(state.deadline.take());
        // The tokens below a token that another thread has claimed belong to that thread.
        let ours = found.ours;
        let below = state.children.values().filter_map(Weak::upgrade);
        self.tree.extend(below.map(|node| FoundToken { node, ours, calls_back: false }));
        true
    }
}

/// The callbacks of a tree that was cancelled. The thread that was first to cancel the tree must run them.
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

/// Returns the next key. Keys grow, so a map ordered by key is ordered by time of registration.
pub(super) fn next_key() -> u64 {
    static NEXT: ids::AtomicU64 = ids::AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl TokenNode {
    /// Runs the callbacks that are still registered.
    fn run_callbacks(&self) {
        let mut state = self.state.lock();
        // One at a time, so that a registration dropped meanwhile still stops a callback that has not begun.
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
        // This token can no longer be cancelled. Callbacks are left only if their registrations were kept.
        let state = self.state.get_mut();
        let (callbacks, reason) = (std::mem::take(&mut state.callbacks), state.reason.take());
        if !callbacks.is_empty() || reason.is_some() {
            // They may have captured the last copy of another token, whose callbacks have captured the next
            // one.
            call_outside(move || {
                callbacks.into_values().for_each(discard);
                discard(reason);
            });
        }
        // A list and no recursion here, too: the last child of a long chain may be the last owner of the
        // whole chain.
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
