//! What a thread is doing: the tasks that it is in the middle of, what it does for executors beside that, and
//! which token is the current one.
//!
//! # Invariants
//!
//! 1. Frames are begun and ended by guards, so the stack of a thread is empty when it runs no task and is
//!    attached to nothing.
//! 2. A frame's token is made when somebody asks for it, once. Its parent is the token of the frame below; a
//!    masked frame gives none.
//! 3. What is current is looked for from the top down to the first frame of another *level*: users' code that
//!    belongs to no task runs on a level above the frames of the task that is under way.
//! 4. A frame with a [`Role`] is looked through: beside the role, all is as in the frame below.
//! 5. No token is dropped, and no user's code runs, while the stack is borrowed.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use super::cancelled::Cancelled;
use super::outside::level;
use super::reason::{CancelKind, CancelReason};
use super::tree::CancelToken;
use crate::ids::TaskId;
use crate::sync::{Arc, thread_local};

impl CancelToken {
    /// The token of the task that the calling thread is running.
    ///
    /// On a thread that runs no task each call makes a fresh token, which nobody else has, so functions that
    /// ask for it can be called from anywhere. A callback ([`on_cancel`](Self::on_cancel),
    /// [`on_done`](crate::TaskHandle::on_done)), a [hook](crate::Hooks) of a worker, and the `Drop` of what a
    /// task that was called off has captured or of a result that nobody wants belong to no task either,
    /// whichever thread they run on: there, too, the token is fresh, and no request cuts a blocking call
    /// short.
    ///
    /// Only the owner of a task (through its handle) or of a pool is meant to cancel what this
    /// returns; a task that wants to cancel a part of itself makes a [`child`](Self::child).
    pub fn current() -> Self {
        with_frames(|frames| materialise(frames, level())).flatten().unwrap_or_default()
    }

    /// Runs `f` with this token as the thread's current one: carries a token to a thread of one's own.
    ///
    /// The exception is the destructor of a thread-local value. If it runs after that of this crate's own
    /// value, as it may when the thread ends, nothing is current any more, and `f` runs without a current
    /// token. Calls on the token itself, such as [`sleep`](Self::sleep) and [`check`](Self::check), work
    /// there, too.
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

    /// Makes this token the current one of the calling thread until the guard is dropped: as
    /// [`attach`](Self::attach), for code that a closure does not suit.
    ///
    /// Guards nest. The last one that was made and is still there counts, in whichever order they are
    /// dropped. A guard that outlives the task or the `attach` in which it was made has no effect any more.
    /// It stays on its thread: it is not `Send`.
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

    /// Runs `f`, a worker's loop, with this token above those of the tasks that it runs. Between two tasks it
    /// is not current: hooks and the `Drop` of what a task leaves behind run there, and are no task of the
    /// pool's.
    pub(crate) fn above_tasks<R>(&self, f: impl FnOnce() -> R) -> R {
        let _frame = push();
        fill(|frame| (frame.outside, frame.token) = (true, Some(self.clone())));
        f()
    }

    /// Runs `f`, in which an executor runs a task on whatever thread, with this token above it *beside* the
    /// one that the thread has for its tasks. The task's token hangs below both, and is made only if somebody
    /// asks for it.
    pub(crate) fn also_above_tasks<R>(&self, f: impl FnOnce() -> R) -> R {
        let _frame = push();
        fill(|frame| (frame.outside, frame.beside, frame.token) = (true, true, Some(self.clone())));
        f()
    }

    /// Whether the calling thread is inside such an `f` of this token.
    pub(crate) fn is_above_this_thread(&self) -> bool {
        let is_this = |token: &Self| token.is(self) || token.node.parents().any(|parent| parent.is(self));
        let has_it = |frame: &ContextFrame| frame.outside && frame.token.as_ref().is_some_and(is_this);
        with_frames(|frames| frames.iter().any(has_it)).unwrap_or(false)
    }
}

/// Makes a token the current one of its thread until it is dropped: see [`CancelToken::attached`].
#[must_use = "dropping it detaches the token at once"]
pub struct Attached {
    place: Option<(usize, u32)>,
    /// So that the one in the frame is never the last of its kind.
    _token: CancelToken,
    on_its_thread: PhantomData<*const ()>,
}

impl Drop for Attached {
    fn drop(&mut self) {
        let Some((place, id)) = self.place else { return };
        with_all(|ContextFrames { all, used, .. }| {
            let ours = all[..*used].get_mut(place).filter(|frame| frame.guard == id)?;
            (ours.token, ours.ended) = (None, true);
            // What has ended is taken off the stack as soon as nothing is above it.
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

/// Runs `f` as a step that must not be cut off half-way: no blocking call in it obeys the current token.
///
/// For clean-up, for the last message of a protocol, for the second of two writes that belong together. The
/// request is not lost: [`CancelToken::current`] shows it inside and after the step, and so does
/// [`check`](CancelToken::check).
///
/// The current token is ignored however a wait comes by it: by itself, in `CancelToken::current().sleep(..)`,
/// in an [`attach`](CancelToken::attach) of the same token inside the step, or in tasks that run inline
/// there. *Another* token is obeyed by a wait that is told to, with `other.sleep(..)` or `other.attach(..)`:
/// so a step can have a limit of its own. Make that one with [`CancelToken::new`]; a child of the current
/// token is cancelled together with it, and counts as another.
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
                    frame.masked = frame.masked.saturating_sub(1); // a guard may have ended meanwhile
                }
            });
        }
    }

    let top = with_frames(|frames| {
        let (top, below) = top_at(level(), frames)?;
        top.masked += 1;
        Some(below.len())
    });
    let _unmask = top.flatten().map(Unmask);
    f()
}

/// What is current at a place, to be taken along to another thread that does a part of the work there.
#[derive(Default)]
pub(crate) struct Context {
    token: Option<CancelToken>,
    masked: bool,
}

impl Context {
    /// What is current here. Outside any task, nothing is.
    pub(crate) fn of_this_place() -> Self {
        let found = with_frames(|frames| {
            let masked = top_at(level(), frames)?.0.masked > 0;
            Some(Self { token: materialise(frames, level()), masked })
        });
        found.flatten().unwrap_or_default()
    }

    /// Runs `f` as if at that place; as a task below `root` if nothing was current there.
    pub(crate) fn run_under<R>(&self, root: &CancelToken, f: impl FnOnce() -> R) -> R {
        match &self.token {
            Some(token) if self.masked => token.attach(|| masked(f)),
            Some(token) => token.attach(f),
            None => root.above_tasks(f),
        }
    }

    /// Runs `f`, a part of the work that another thread has taken over as a task of its own, below what was
    /// current at that place *beside* what is above that task.
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

    /// The token that is to be above a task from that place. None if nothing was current there, or it was
    /// masked.
    pub(crate) fn into_token_above(self) -> Option<CancelToken> {
        self.token.filter(|_| !self.masked)
    }
}

/// What the handle of a running task has to know about the task's token, and what a thread that runs it tells
/// of it.
pub(crate) trait RunningTask: Send + Sync {
    fn id(&self) -> TaskId;

    /// The address of what is given the task's handle when it has ended; 0 if there is none.
    fn collector(&self) -> usize;

    /// The task has made its token. Cancels it if the task was cancelled already.
    fn token_made(&self, token: &CancelToken);

    /// Whether the task was cancelled while it runs.
    fn was_cancelled(&self) -> bool;

    /// Whether a timer cancels the task when its time is up: whoever waits for it does not wait for ever.
    fn is_limited(&self) -> bool;
}

/// What a thread does for an executor, beside running a task. Pools go by their addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It runs the tasks of this pool.
    Worker(usize),
    /// It starts a worker of this pool: it is inside the thread factory.
    Starter(usize),
    /// It calls the last hook of this pool.
    Closer(usize),
    /// It runs a task on top of one that waits.
    Helper,
}

#[derive(Default)]
struct ContextFrame {
    token: Option<CancelToken>,
    task: Option<Arc<dyn RunningTask>>,
    masked: u32,
    /// Nothing is current here. The token is only the parent of those of tasks.
    outside: bool,
    /// The token is to be linked to the one below, as soon as somebody asks for that of a task.
    beside: bool,
    /// On which it began.
    level: u32,
    /// Which [`Attached`] it belongs to. Zero if none.
    guard: u32,
    /// Its guard is gone, but there are frames above it. What is current is looked for further down.
    ended: bool,
    role: Option<Role>,
}

impl ContextFrame {
    /// Whether what is current is looked for further down.
    fn is_looked_through(&self) -> bool {
        self.ended || self.role.is_some()
    }
}

/// The frames of a thread. Those beyond the first `used` are empty and stay where they are: a frame that is
/// begun and ended with each task is not moved through memory.
#[derive(Default)]
struct ContextFrames {
    all: Vec<ContextFrame>,
    used: usize,
    /// How many [`Attached`] there were.
    guards: u32,
}

thread_local! {
    static FRAMES: RefCell<ContextFrames> = RefCell::default();
}

#[inline]
fn with_all<R>(f: impl FnOnce(&mut ContextFrames) -> R) -> Option<R> {
    FRAMES.try_with(|frames| f(&mut frames.borrow_mut())).ok()
}

/// `None` only while the thread ends and its locals are gone: then nothing is current.
#[inline]
fn with_frames<R>(f: impl FnOnce(&mut [ContextFrame]) -> R) -> Option<R> {
    with_all(|ContextFrames { all, used, .. }| f(&mut all[..*used]))
}

/// Takes its frame off the stack. Guards of this kind end in the reverse order of their begin, so that is the
/// top one, apart from those that an [`Attached`] has left there.
#[must_use]
pub(crate) struct FrameGuard {
    pushed: bool,
}

impl Drop for FrameGuard {
    #[inline]
    fn drop(&mut self) {
        if self.pushed {
            // What is in the frame is dropped after the borrow has ended: its token might be the last of its
            // kind.
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

/// Ends the frames that guards have left on the stack, and gives the place below. The guards have their
/// tokens, too, so none is the last of its kind.
#[cold]
fn below_those_of_guards(all: &mut [ContextFrame], mut top: usize) -> usize {
    while all[top].guard != 0 {
        all[top] = ContextFrame::default();
        top -= 1;
    }
    top
}

/// Begins an empty frame. What few of them have is filled in by [`fill`].
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

/// Enters a task. `task` is what its handle shares with it, if there is a handle.
#[inline]
pub(crate) fn enter_task(task: Option<Arc<dyn RunningTask>>) -> FrameGuard {
    let guard = push();
    if let Some(task) = task {
        fill(|frame| frame.task = Some(task));
    }
    guard
}

/// The calling thread has this role until the result is dropped.
pub(crate) fn enter_role(role: Role) -> FrameGuard {
    let guard = push();
    fill(|frame| frame.role = Some(role));
    guard
}

/// How many such roles the calling thread has. More than one of a kind if a task of one pool runs the worker
/// of another.
pub(crate) fn count_roles(wanted: impl Fn(Role) -> bool) -> usize {
    let is_wanted = |frame: &&ContextFrame| frame.role.is_some_and(&wanted);
    with_frames(|frames| frames.iter().filter(is_wanted).count()).unwrap_or(0)
}

/// Whether the calling thread is in the middle of a task that has a handle.
pub(crate) fn runs_a_task() -> bool {
    with_frames(|frames| frames.iter().any(|frame| frame.task.is_some())).unwrap_or(false)
}

/// The tasks that the calling thread is in the middle of, as far as they have handles. The innermost is the
/// last.
pub(crate) fn tasks_of_this_thread() -> Vec<Arc<dyn RunningTask>> {
    with_frames(|frames| frames.iter().filter_map(|frame| frame.task.clone()).collect()).unwrap_or_default()
}

/// The frame in which something may be current, and those below it. `None` if there is no frame of this
/// level.
fn top_at(level: u32, frames: &mut [ContextFrame]) -> Option<(&mut ContextFrame, &mut [ContextFrame])> {
    let place = frames.iter().rposition(|frame| !frame.is_looked_through())?;
    let (top, below) = frames[..=place].split_last_mut()?;
    (top.level == level).then_some((top, below))
}

/// The current token for a wait: none on a thread without one and none inside [`masked`].
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

/// Whether a step of this thread that is [`masked`] is shielded from this very token.
pub(crate) fn is_shielded_from(token: &CancelToken) -> bool {
    with_frames(|frames| shields(frames, token)).unwrap_or(false)
}

fn shields(frames: &[ContextFrame], token: &CancelToken) -> bool {
    frames.iter().any(|frame| frame.masked > 0 && frame.token.as_ref().is_some_and(|own| own.is(token)))
}

/// Whether a blocking call on this thread should refuse to begin. Unlike [`current_for_wait`] it makes no
/// token.
pub(crate) fn check_current() -> Result<(), Cancelled> {
    let in_a_task = |frames: &[ContextFrame]| {
        let top = frames.iter().rfind(|frame| !frame.is_looked_through());
        top.is_some_and(|top| !top.outside)
    };
    let found = with_frames(|frames| if in_a_task(frames) { cancelled(frames, level()) } else { None });
    found.flatten().map_or(Ok(()), Err)
}

/// Whether tasks that run at this place of the thread are asked to stop. Makes no token either.
pub(crate) fn is_cancelled_here() -> bool {
    with_frames(|frames| cancelled(frames, level())).flatten().is_some()
}

/// What the token says that is current on this level, or would be if it were made.
fn cancelled(frames: &mut [ContextFrame], level: u32) -> Option<Cancelled> {
    let (top, below) = top_at(level, frames)?;
    if top.masked > 0 {
        return None;
    }
    match (&top.token, &top.task) {
        (Some(token), _) if top.beside => token.check().err().or_else(|| cancelled(below, level)),
        (Some(token), _) if shields(below, token) => None,
        (Some(token), _) => token.check().err(),
        (None, Some(task)) if task.was_cancelled() => {
            Some(Cancelled::because(Some(CancelReason::of(CancelKind::Requested))))
        }
        _ if top.outside => None,
        _ => cancelled(below, level),
    }
}

/// What to say when the current token has cut a wait short.
#[cold]
pub(crate) fn interrupted() -> Cancelled {
    check_current().err().unwrap_or(Cancelled)
}

/// The token of the top frame, made if need be as a child of the frame below. `None` without a frame and
/// outside any task.
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

/// The parent of the token of a task that runs on top of these frames.
fn parent_of_the_next(frames: &mut [ContextFrame], level: u32) -> Option<CancelToken> {
    let (top, below) = top_at(level, frames)?;
    match top {
        top if top.masked > 0 => None,
        top if top.outside => {
            // The frame's own token is not the last of its kind: whoever has begun the frame keeps it.
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
