//! The frames of a thread: a stack that records the thread's tasks, its roles for executors, and its current
//! token.
//!
//! # Invariants
//!
//! 1. A guard begins a frame, and the drop of the guard ends the frame. So the stack of a thread is empty
//!    when the thread runs no task, works for no executor and has no token attached.
//! 2. A frame's token is made once, when code first asks for the token. The parent of this token is the token
//!    of the frame below. If the frame below is masked, the token has no parent.
//! 3. The search for the current token begins at the top frame, and stops at the first frame of another
//!    *level*. User code that belongs to no task runs on a higher level than the task that the thread is
//!    running.
//! 4. A frame with a [`Role`] has no token of its own, and the search for the current token skips this frame.
//! 5. No token is dropped, and no user code runs, while the stack is borrowed.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use super::cancelled::Cancelled;
use super::outside::level;
use super::reason::{CancelKind, CancelReason};
use super::tree::CancelToken;
use crate::ids::TaskId;
use crate::panics::OnDrop;
use crate::sync::{Arc, thread_local};

impl CancelToken {
    /// Returns the token of the task that the calling thread is running.
    ///
    /// On a thread that runs no task, each call makes a fresh token, which no other code has. So functions
    /// that ask for the current token can be called on any thread. Some code belongs to no task, even if its
    /// thread is running a task. Examples are a callback ([`on_cancel`](Self::on_cancel),
    /// [`on_done`](crate::TaskHandle::on_done)), a [hook](crate::Hooks) of a worker, and the `Drop` of two
    /// kinds of values: the values that a cancelled task has captured, and a result that no caller has taken.
    /// Code that belongs to no task gets a fresh token, too, and no request ends its blocking calls early.
    ///
    /// Only the owner of a task (through the task's handle) or the owner of a pool should cancel the current
    /// token. A task that wants to cancel a part of its work makes a [`child`](Self::child) for that part.
    ///
    /// ```
    /// use executor::CancelToken;
    ///
    /// let token = CancelToken::new();
    /// token.cancel();
    /// assert!(token.attach(|| CancelToken::current().is_cancelled()));
    /// assert!(!CancelToken::current().is_cancelled()); // this thread runs no task
    /// ```
    #[doc(alias = "ThreadLocal")]
    #[doc(alias = "ScopedValue")]
    pub fn current() -> Self {
        with_frames(|frames| materialise(frames, level())).flatten().unwrap_or_default()
    }

    /// Runs `f` with this token as the current token of the thread, for example on a thread that the caller
    /// has started.
    ///
    /// There is one exception. When a thread ends, this crate's thread-local value may be destroyed before a
    /// user's thread-local value. If `attach` is called in the destructor of the user's value, `f` runs
    /// without a current token. Calls on the token itself, such as [`sleep`](Self::sleep) and
    /// [`check`](Self::check), work even in this destructor.
    ///
    /// ```
    /// use executor::CancelToken;
    ///
    /// let token = CancelToken::new();
    /// token.cancel();
    /// let refused = std::thread::spawn(move || token.attach(|| CancelToken::current().check()));
    /// assert!(refused.join().unwrap().is_err());
    /// ```
    pub fn attach<R>(&self, f: impl FnOnce() -> R) -> R {
        let _frame = push();
        fill(|frame| frame.token = Some(self.clone()));
        f()
    }

    /// Makes this token the current token of the calling thread until the guard is dropped. Use the guard
    /// instead of [`attach`](Self::attach) for code that does not fit into a closure.
    ///
    /// Guards nest, and can be dropped in any order. The newest guard that still exists determines the
    /// current token. A guard that was made in a task or in an `attach` has no effect after this task or
    /// `attach` has ended. A guard stays on its thread: it is not `Send`.
    ///
    /// ```
    /// use executor::{CancelToken, Latch};
    ///
    /// let token = CancelToken::new();
    /// token.cancel();
    /// let attached = token.attached();
    /// assert!(Latch::new(1).wait().is_err());
    /// drop(attached);
    /// assert!(CancelToken::current().check().is_ok());
    /// ```
    ///
    /// ```compile_fail,E0277
    /// let attached = executor::CancelToken::new().attached();
    /// std::thread::spawn(move || drop(attached));
    /// ```
    pub fn attached(&self) -> Attached {
        let _stays = ManuallyDrop::new(push());
        let place = with_all(|ContextFrames { used, guards, .. }| {
            *guards = guards.checked_add(1).unwrap_or(1);
            (*used - 1, *guards)
        });
        fill(|frame| (frame.token, frame.guard) = (Some(self.clone()), place.map_or(0, |(_, id)| id)));
        Attached { place, _token: self.clone(), on_its_thread: PhantomData }
    }

    /// Runs `f`, the loop of a worker. This token becomes the parent of the token of each task that `f` runs.
    /// Between two tasks the token is not current, because hooks, and the `Drop` of values that a task leaves
    /// behind, belong to no task of the pool.
    pub(crate) fn above_tasks<R>(&self, f: impl FnOnce() -> R) -> R {
        let _frame = push();
        fill(|frame| (frame.outside, frame.token) = (true, Some(self.clone())));
        f()
    }

    /// Runs `f`, which runs one task of an executor; the calling thread can be any thread. The token of the
    /// task gets two parents: this token, and the usual parent of a task's token. The token of the task is
    /// made only if code asks for it.
    pub(crate) fn also_above_tasks<R>(&self, f: impl FnOnce() -> R) -> R {
        let _frame = push();
        fill(|frame| (frame.outside, frame.beside, frame.token) = (true, true, Some(self.clone())));
        f()
    }

    /// Returns whether a call of [`above_tasks`](Self::above_tasks) or
    /// [`also_above_tasks`](Self::also_above_tasks) on this token is running on the calling thread.
    pub(crate) fn is_above_this_thread(&self) -> bool {
        let is_this = |token: &Self| token.is(self) || token.node.parents().any(|parent| parent.is(self));
        let has_it = |frame: &ContextFrame| frame.outside && frame.token.as_ref().is_some_and(is_this);
        with_frames(|frames| frames.iter().any(has_it)).unwrap_or(false)
    }
}

/// A guard: its token is the current token of the thread until the guard is dropped. See
/// [`CancelToken::attached`].
///
/// ```
/// use executor::CancelToken;
///
/// let token = CancelToken::new();
/// token.cancel();
/// {
///     let _attached = token.attached();
///     assert!(CancelToken::current().is_cancelled());
/// }
/// assert!(!CancelToken::current().is_cancelled());
/// ```
#[must_use = "dropping it detaches the token at once"]
pub struct Attached {
    place: Option<(usize, u32)>,
    /// Keeps the token alive, so that the clone in the frame is never the last clone.
    _token: CancelToken,
    on_its_thread: PhantomData<*const ()>,
}

impl Drop for Attached {
    fn drop(&mut self) {
        let Some((place, id)) = self.place else { return };
        with_all(|ContextFrames { all, used, .. }| {
            let ours = all[..*used].get_mut(place).filter(|frame| frame.guard == id)?;
            (ours.token, ours.ended) = (None, true);
            // A frame that has ended is removed from the stack as soon as no frame is above it.
            while *used > 0 && all[*used - 1].ended {
                *used -= 1;
                all[*used] = ContextFrame::default();
            }
            Some(())
        });
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached").finish_non_exhaustive()
    }
}

/// Runs `f` as a step that must not be cut short: no blocking call in `f` obeys the current token.
///
/// Use `masked` for clean-up, for the last message of a protocol, and for the second of two writes that
/// belong together. A request to stop is not lost: inside the step and after it,
/// [`check`](CancelToken::check) of the [current](CancelToken::current) token reports the request.
///
/// A wait in the step ignores the current token even if code in the step names that token. Examples are
/// `CancelToken::current().sleep(..)`, and an [`attach`](CancelToken::attach) of the same token inside the
/// step. A task that runs inline in the step ignores the current token in its waits, too. A wait obeys
/// *another* token if the caller gives one, with `other.sleep(..)` or `other.attach(..)`. So a masked step
/// can have a time limit of its own. Make the other token with [`CancelToken::new`]. A child of the current
/// token counts as another token, but is cancelled together with the current token.
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
    let masked = with_frames(|frames| {
        let (top, below) = top_at(level(), frames)?;
        top.masked += 1;
        Some(below.len())
    });
    let _unmask = OnDrop(|| {
        with_frames(|frames| {
            let frame = frames.get_mut(masked.flatten()?)?;
            frame.masked = frame.masked.saturating_sub(1); // a guard may have ended meanwhile
            Some(())
        });
    });
    f()
}

/// The current token at one point of a program, and whether that token is masked. When another thread takes
/// over work, the thread also takes over the context of that work.
#[derive(Default)]
pub(crate) struct Context {
    token: Option<CancelToken>,
    masked: bool,
}

impl Context {
    /// Returns the context of the calling code. Outside any task the context is empty.
    pub(crate) fn of_this_place() -> Self {
        let found = with_frames(|frames| {
            let masked = top_at(level(), frames)?.0.masked > 0;
            Some(Self { token: materialise(frames, level()), masked })
        });
        found.flatten().unwrap_or_default()
    }

    /// Runs `f` in this context. If this context has no current token, `root` becomes the parent token of the
    /// tasks that `f` runs.
    pub(crate) fn run_under<R>(&self, root: &CancelToken, f: impl FnOnce() -> R) -> R {
        match &self.token {
            Some(token) if self.masked => token.attach(|| masked(f)),
            Some(token) => token.attach(f),
            None => root.above_tasks(f),
        }
    }

    /// Runs `f`, a part of the work that the calling thread has taken over, as a separate task. The token of
    /// this task gets two parents: the token of this context, and the usual parent of a task's token.
    pub(crate) fn run_beside<R>(&self, f: impl FnOnce() -> R) -> R {
        if let Some(token) = self.token.as_ref().filter(|_| self.masked) {
            return token.attach(|| masked(f));
        }
        let as_a_task = || {
            let _frame = enter_task(None);
            f()
        };
        match &self.token {
            Some(token) => token.also_above_tasks(as_a_task),
            None => as_a_task(),
        }
    }

    /// Returns the parent token for a task that was made in this context. Returns `None` if this context has
    /// no current token, or if that token was masked.
    pub(crate) fn into_token_above(self) -> Option<CancelToken> {
        self.token.filter(|_| !self.masked)
    }
}

/// The state of a running task that its frame and its waits use. Through this trait, the frame tells the
/// task's handle about the token of the task.
pub(crate) trait RunningTask: Send + Sync {
    fn id(&self) -> TaskId;

    /// Returns the address of the collector to which the task reports, or 0 if the task has no collector. A
    /// collector gets the handle of a task when the task has ended.
    fn collector(&self) -> usize;

    /// Tells the handle that the task's token was made. Cancels the token if the task was already cancelled.
    fn token_made(&self, token: &CancelToken);

    /// Returns why the task was asked to stop while it was running. Returns `None` if there was no request.
    fn why_to_stop(&self) -> Option<CancelReason>;

    /// Returns whether the task has a time limit. When the time of a limited task is up, a timer cancels the
    /// task, so a wait for the task always ends.
    fn is_limited(&self) -> bool;
}

/// What a thread does for an executor, apart from running a task. The number in a variant is the address of a
/// pool.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The thread runs the tasks of this pool.
    Worker(usize),
    /// The thread is inside the thread factory of this pool, and starts a worker.
    Starter(usize),
    /// The thread calls the last hook of this pool.
    Closer(usize),
    /// The thread runs a task while an outer task on the same thread waits.
    Helper,
}

#[derive(Default)]
struct ContextFrame {
    token: Option<CancelToken>,
    task: Option<Arc<dyn RunningTask>>,
    masked: u32,
    /// No token is current in this frame. The frame's token serves only as the parent of the tokens of tasks.
    outside: bool,
    /// When code first asks for the token of a task, the frame's token must be linked to the token of the
    /// frame below.
    beside: bool,
    /// The level on which the frame began.
    level: u32,
    /// The number of the [`Attached`] guard that has made this frame, or zero for any other frame.
    guard: u32,
    /// True if the guard of this frame was dropped while other frames lay above this frame. The search for
    /// the current token skips a frame that has ended.
    ended: bool,
    role: Option<Role>,
}

impl ContextFrame {
    /// Returns whether the search for the current token skips this frame.
    fn is_looked_through(&self) -> bool {
        self.ended || self.role.is_some()
    }
}

/// The frames of a thread. Only the first `used` frames are in use. The other frames are empty; they are kept
/// so that the frame of the next task can be filled in place, without a copy.
#[derive(Default)]
struct ContextFrames {
    all: Vec<ContextFrame>,
    used: usize,
    /// The number of [`Attached`] guards that have been made.
    guards: u32,
}

thread_local! {
    static FRAMES: RefCell<ContextFrames> = RefCell::default();
}

#[inline]
fn with_all<R>(f: impl FnOnce(&mut ContextFrames) -> R) -> Option<R> {
    FRAMES.try_with(|frames| f(&mut frames.borrow_mut())).ok()
}

/// Runs `f` on the frames in use. Returns `None` only if the thread is ending and its thread-local values are
/// gone. No token is current then.
#[inline]
fn with_frames<R>(f: impl FnOnce(&mut [ContextFrame]) -> R) -> Option<R> {
    with_all(|ContextFrames { all, used, .. }| f(&mut all[..*used]))
}

/// A guard: its drop removes the frame from the stack. `FrameGuard`s are dropped in reverse order: the newest
/// guard first. So the only frames that can lie above the guard's frame are frames that an [`Attached`] guard
/// has left on the stack.
#[must_use]
pub(crate) struct FrameGuard {
    pushed: bool,
}

impl Drop for FrameGuard {
    #[inline]
    fn drop(&mut self) {
        if self.pushed {
            // The frame's contents are dropped only after the borrow has ended, because the token may be the
            // last clone.
            let in_it = with_all(|ContextFrames { all, used, .. }| {
                *used -= 1;
                if all[*used].guard != 0 {
                    *used = below_those_of_guards(all, *used);
                }
                let top = &mut all[*used];
                (top.masked, top.outside, top.beside, top.role) = (0, false, false, None);
                (top.token.take(), top.task.take())
            });
            drop(in_it);
        }
    }
}

/// Ends the frames that [`Attached`] guards have left on the stack, and returns the index of the frame below
/// them. The guards have clones of the tokens, so the token in a guard's frame is never the last clone.
#[cold]
fn below_those_of_guards(all: &mut [ContextFrame], mut top: usize) -> usize {
    while all[top].guard != 0 {
        all[top] = ContextFrame::default();
        top -= 1;
    }
    top
}

/// Begins an empty frame. [`fill`] adds the parts of a frame that most frames do not have. These parts are
/// not arguments, because all arguments are copied for every task.
#[inline]
fn push() -> FrameGuard {
    let level = level();
    let push = |ContextFrames { all, used, .. }: &mut ContextFrames| {
        if *used == all.len() {
            all.push(ContextFrame::default());
        }
        all[*used].level = level;
        *used += 1;
    };
    FrameGuard { pushed: with_all(push).is_some() }
}

fn fill(fill: impl FnOnce(&mut ContextFrame)) {
    with_frames(|frames| frames.last_mut().map(fill));
}

/// Begins the frame of a task. If the task has a handle, `task` is the state that the task shares with its
/// handle.
#[inline]
pub(crate) fn enter_task(task: Option<Arc<dyn RunningTask>>) -> FrameGuard {
    let guard = push();
    if let Some(task) = task {
        fill(|frame| frame.task = Some(task));
    }
    guard
}

/// Gives the calling thread this role until the returned guard is dropped.
pub(crate) fn enter_role(role: Role) -> FrameGuard {
    let guard = push();
    fill(|frame| frame.role = Some(role));
    guard
}

/// Returns how many roles of the calling thread satisfy `wanted`. For example, a thread is a worker twice if
/// a task of one pool runs a worker of another pool.
pub(crate) fn count_roles(wanted: impl Fn(Role) -> bool) -> usize {
    let is_wanted = |frame: &&ContextFrame| frame.role.is_some_and(&wanted);
    with_frames(|frames| frames.iter().filter(is_wanted).count()).unwrap_or(0)
}

/// Returns whether the calling thread is running a task that has a handle.
pub(crate) fn runs_a_task() -> bool {
    with_frames(|frames| frames.iter().any(|frame| frame.task.is_some())).unwrap_or(false)
}

/// Returns the running tasks of the calling thread that have handles. The list is in the order in which the
/// tasks began.
pub(crate) fn tasks_of_this_thread() -> Vec<Arc<dyn RunningTask>> {
    with_frames(|frames| frames.iter().filter_map(|frame| frame.task.clone()).collect()).unwrap_or_default()
}

/// Returns the top frame and the frames below it. Frames that the search for the current token skips do not
/// count. Returns `None` if all frames are skipped, or if the top frame has another level.
fn top_at(level: u32, frames: &mut [ContextFrame]) -> Option<(&mut ContextFrame, &mut [ContextFrame])> {
    let place = frames.iter().rposition(|frame| !frame.is_looked_through())?;
    let (top, below) = frames[..=place].split_last_mut()?;
    (top.level == level).then_some((top, below))
}

/// Returns the token that a wait must obey. Returns `None` inside [`masked`], and if no token is current.
pub(crate) fn current_for_wait() -> Option<CancelToken> {
    let current = |frames: &mut [ContextFrame]| {
        let level = level();
        if top_at(level, frames)?.0.masked > 0 {
            return None;
        }
        let token = materialise(frames, level)?;
        (!shields(frames, &token)).then_some(token)
    };
    with_frames(current).flatten()
}

/// Returns whether the calling thread is in a [`masked`] step that ignores this token.
pub(crate) fn is_shielded_from(token: &CancelToken) -> bool {
    with_frames(|frames| shields(frames, token)).unwrap_or(false)
}

fn shields(frames: &[ContextFrame], token: &CancelToken) -> bool {
    frames.iter().any(|frame| frame.masked > 0 && frame.token.as_ref().is_some_and(|own| own.is(token)))
}

/// Returns an error if a blocking call on this thread should refuse to begin. Unlike [`current_for_wait`],
/// `check_current` makes no token.
pub(crate) fn check_current() -> Result<(), Cancelled> {
    let in_a_task = |frames: &[ContextFrame]| {
        let top = frames.iter().rfind(|frame| !frame.is_looked_through());
        top.is_some_and(|top| !top.outside)
    };
    let found = with_frames(|frames| if in_a_task(frames) { cancelled(frames, level()) } else { None });
    found.flatten().map_or(Ok(()), Err)
}

/// Returns the reason why a wait of this thread was interrupted. The thread gives this reason to the tasks
/// that it cancels after the wait.
pub(crate) fn why_interrupted() -> CancelReason {
    let reason = check_current().err().and_then(|cancelled| cancelled.reason().map(CancelReason::inherited));
    reason.unwrap_or(CancelReason::of(CancelKind::Requested))
}

/// Returns whether a task that begins now on the calling thread must stop at once. Makes no token.
pub(crate) fn is_cancelled_here() -> bool {
    with_frames(|frames| cancelled(frames, level())).flatten().is_some()
}

/// Returns the error of the current token of this level if the token is cancelled. If the frame has no token
/// yet, looks for a request to stop the frame's task, and then for a request in the frames below.
fn cancelled(frames: &mut [ContextFrame], level: u32) -> Option<Cancelled> {
    let (top, below) = top_at(level, frames)?;
    if top.masked > 0 {
        return None;
    }
    match (&top.token, &top.task) {
        (Some(token), _) if top.beside => token.check().err().or_else(|| cancelled(below, level)),
        (Some(token), _) if shields(below, token) => None,
        (Some(token), _) => token.check().err(),
        (None, task) => match task.as_ref().and_then(|task| task.why_to_stop()) {
            Some(reason) => Some(Cancelled::because(Some(reason))),
            None if top.outside => None,
            None => cancelled(below, level),
        },
    }
}

/// Returns the error for a wait that the current token has cut short.
#[cold]
pub(crate) fn interrupted() -> Cancelled {
    check_current().err().unwrap_or(Cancelled)
}

/// Returns the token of the top frame. If the frame has no token yet, makes a child of the token of the frame
/// below. Returns `None` if the thread has no frame, or if the top frame belongs to no task.
fn materialise(frames: &mut [ContextFrame], level: u32) -> Option<CancelToken> {
    let (top, below) = top_at(level, frames)?;
    if top.outside {
        return None;
    }
    if top.token.is_none() {
        let parent = parent_of_the_next(below, level);
        let token = parent.map_or_else(CancelToken::new, |parent| parent.child());
        if let Some(task) = &top.task {
            task.token_made(&token);
        }
        top.token = Some(token);
    }
    top.token.clone()
}

/// Returns the parent for the token of a task that runs on top of these frames.
fn parent_of_the_next(frames: &mut [ContextFrame], level: u32) -> Option<CancelToken> {
    let (top, below) = top_at(level, frames)?;
    match top {
        top if top.masked > 0 => None,
        top if top.outside => {
            // The drop of this token is harmless: the caller that began the frame keeps another clone.
            if std::mem::take(&mut top.beside)
                && let Some(parent) = parent_of_the_next(below, level)
            {
                top.token = top.token.take().map(|own| CancelToken::linked([&parent, &own]));
            }
            top.token.clone()
        }
        _ => materialise(frames, level),
    }
}
