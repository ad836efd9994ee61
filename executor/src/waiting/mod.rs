//! Waiting: how a thread blocks in this crate, and what is built on that.
//!
//! Every blocking call comes down to one wait ([`wait`]): a thread sleeps in its parker until a wake-up, a
//! cancelled token or a deadline ends the wait. A thread of an executor must not sleep in a wait that could
//! never end. So a wait names what it waits for ([`awaited`]), the executors that its thread works for
//! ([`worker_context`]), and the owner of the queue in which an awaited task is ([`queue_owner`]). The module
//! `wait_graph`, which is plugged in from above, finds out whether the wait can end.

pub(crate) mod parker;

pub(crate) mod starvation;
pub use starvation::{OnStarvation, Starvation, StarvedWait, TaskRef, WaitsFor};

pub(crate) mod error;
pub use error::{CutShort, RejectReason, WaitError};

pub(crate) mod queue_owner;

pub(crate) mod awaited;

pub(crate) mod worker_context;

pub(crate) mod wait;

pub(crate) mod latch;
pub use latch::Latch;

pub(crate) mod semaphore;
pub use semaphore::{OwnedPermit, Permit, Semaphore};

#[cfg(any(feature = "channel", feature = "loom", feature = "shuttle"))]
pub mod channel;
