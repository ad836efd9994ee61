//! Executors that are made over other executors: each adds one promise, and passes its tasks on to the
//! executor below.
//!
//! | promise | executor |
//! |---|---|
//! | at most a fixed number of tasks is under way | [`BoundedExecutor`] |
//! | the tasks that ran at an abrupt shutdown are known | [`TrackingExecutor`] |
//! | a task's own way to be cancelled is used | [`CancellingExecutor`] |
//! | one task at a time, in order | [`SerialExecutor`]; for each key: [`StripedExecutor`] |
//! | a test decides what runs when | [`ManualExecutor`], which runs its tasks itself |
//!
//! They share two parts: their [life](lifecycle) over the executor below, and the [strand](strand).

mod lifecycle;

mod manual;
pub use manual::ManualExecutor;

mod bounded;
pub use bounded::{BoundedExecutor, BoundedStats, Impatient};

mod tracking;
pub use tracking::{CutOff, CutOffHow, NotTerminated, Tagged, TrackingExecutor, TrackingStats};

mod cancelling;
pub use cancelling::{CancellableTask, CancellingExecutor};

mod strand;

mod serial;
pub use serial::SerialExecutor;

mod striped;
pub use striped::{Identity, Stripe, StripeStats, StripedExecutor, StripedStats};
