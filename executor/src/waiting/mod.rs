//! Waiting: how a thread blocks in this crate, and the primitives that use this way of
//! blocking.
//!
//! Every blocking call uses the same wait ([`wait`]): a thread sleeps in its parker until a wake-up, a
//! cancelled token or a deadline ends the wait. A thread of an executor must not sleep in a wait that could
//! never end. So the library knows three things about a wait: the thing for which the thread waits
//! ([`awaited`]), the executors for which the waiting thread works ([`worker_context`]), and the owner of the
//! queue that holds the awaited task ([`queue_owner`]). The module `wait_graph` finds out from these three
//! things whether the wait can end.

pub(crate) mod parker;

pub(crate) mod starvation;
pub use starvation::{OnStarvation, Starvation, StarvedWait, TaskRef, WaitsFor};

pub(crate) mod error;
pub use error::{CutShort, RejectReason, WaitError};

pub(crate) mod pool_dump;

pub(crate) mod queue_owner;

pub(crate) mod awaited;

pub(crate) mod worker_context;

pub(crate) mod wait;

mod block_on;
pub use block_on::block_on;

pub(crate) mod latch;
pub use latch::Latch;

mod barrier;
pub use barrier::{Barrier, BarrierError};

pub(crate) mod semaphore;
pub use semaphore::{OwnedPermit, Permit, Semaphore};

#[cfg(any(feature = "channel", feature = "loom", feature = "shuttle"))]
pub mod channel;
