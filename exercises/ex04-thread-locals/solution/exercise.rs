//! An isolating executor. This executor wraps another executor, and makes sure that a job finds no session
//! that another job has left on the thread.
#![allow(unused)]

use std::cell::{Cell, RefCell};

use executor::prelude::*;
use executor::{Executor, RejectedExecution};

use crate::sync::thread_local;

thread_local! {
    /// The session of the user who is signed in on this thread. `SESSION.with(|slot| …)` lends you the slot.
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// A user's session: the user is signed in until the session is dropped.
pub struct Session {
    user: &'static str,
    at_end: Option<Box<dyn FnOnce()>>, // not `Send`, so a session ends on the thread on which it began
}

impl Session {
    /// Makes a session that calls `at_end` when the session ends. `at_end` may ask which user is signed in.
    /// `at_end` must not sign a user in, and must not panic.
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

/// Returns the user who is signed in on this thread, if there is one.
pub fn signed_in() -> Option<&'static str> {
    SESSION.with(|slot| slot.borrow().as_ref().map(|session| session.user))
}

/// Begins a session on this thread, and ends the session that was there.
pub fn sign_in(session: Session) {
    drop(SESSION.with(|slot| slot.replace(Some(session))));
}

/// Ends the session of this thread, if there is one.
pub fn sign_out() {
    drop(SESSION.with(|slot| slot.take()));
}

/// Hands jobs to another executor, and isolates each job from its thread. A job finds no user signed in. When
/// the job ends, a user whom the job has signed in is signed out.
pub struct IsolatingExecutor<E> {
    inner: E,
}

/// The session that was in the slot before the job. When the job returns or panics, the drop of this value
/// ends the job's session and puts the earlier session back.
struct Before(Option<Session>);

impl Drop for Before {
    fn drop(&mut self) {
        sign_out();
        let before = self.0.take();
        drop(SESSION.with(|slot| slot.replace(before)));
    }
}

impl<E: Executor> IsolatingExecutor<E> {
    /// Makes an executor that wraps `inner`.
    pub fn new(inner: E) -> Self {
        Self { inner }
    }

    /// Hands the job to the inner executor, which may run it on any thread: a thread of a pool, or the
    /// calling thread.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        self.inner.execute(move || {
            let _before = Before(SESSION.with(|slot| slot.take()));
            job();
        })
    }
}
