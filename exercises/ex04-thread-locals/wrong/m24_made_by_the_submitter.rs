//! Wrong: the value whose Drop cleans up is made by the submitter and captured by the closure. It is dropped with the
//! closure, also on a thread that never calls it.
//! The learner sees: whoever drops a job that was never run is signed out.
#![allow(unused)]

use std::cell::{Cell, RefCell};

use executor::prelude::*;
use executor::{Executor, RejectedExecution};

use crate::sync::thread_local;

thread_local! {
    /// The session of whoever is signed in on this thread. `SESSION.with(|slot| …)` lends you the slot.
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Somebody is signed in, until this is dropped.
pub struct Session {
    user: &'static str,
    at_end: Option<Box<dyn FnOnce()>>, // not Send: a session ends on the thread on which it began
}

impl Session {
    /// A session that calls `at_end` when it ends. `at_end` may ask who is signed in. It signs nobody in and does not
    /// panic.
    pub fn new(user: &'static str, at_end: impl FnOnce() + 'static) -> Self {
        Self { user, at_end: Some(Box::new(at_end)) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(at_end) = self.at_end.take() {
            at_end();
        }
    }
}

/// Who is signed in on this thread.
pub fn signed_in() -> Option<&'static str> {
    SESSION.with(|slot| slot.borrow().as_ref().map(|session| session.user))
}

/// Begins a session on this thread, and ends the one that was there.
pub fn sign_in(session: Session) {
    drop(SESSION.with(|slot| slot.replace(Some(session))));
}

/// Ends the session of this thread, if there is one.
pub fn sign_out() {
    drop(SESSION.with(|slot| slot.take()));
}

/// Hands jobs to another executor, and shields them and their thread from each other: a job finds nobody signed in, and
/// whoever it signs in is signed out when it ends.
pub struct IsolatingExecutor<E> {
    inner: E,
}

/// What the thread that runs the job has to put back.
#[derive(Default)]
struct CleanUp {
    kept: bool,
}

thread_local! {
    /// What was there before each of the jobs that this thread is in the middle of.
    static BEFORE: RefCell<Vec<Option<Session>>> = const { RefCell::new(Vec::new()) };
}

impl CleanUp {
    fn begin(&mut self) {
        let before = SESSION.with(|slot| slot.take());
        BEFORE.with(|stack| stack.borrow_mut().push(before));
        self.kept = true;
    }
}

impl Drop for CleanUp {
    fn drop(&mut self) {
        sign_out();
        if self.kept {
            let before = BEFORE.with(|stack| stack.borrow_mut().pop()).flatten();
            SESSION.with(|slot| slot.replace(before));
        }
    }
}

impl<E: Executor> IsolatingExecutor<E> {
    /// Puts itself in front of `inner`.
    pub fn new(inner: E) -> Self {
        Self { inner }
    }

    /// Hands the job to the inner executor, which may run it on any thread: one of a pool's, or this one.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        let mut clean_up = CleanUp::default();
        self.inner.execute(move || {
            clean_up.begin();
            job();
        })
    }
}
