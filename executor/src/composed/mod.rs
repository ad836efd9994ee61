//! Executors that are built on other executors. Each of them adds one guarantee, and passes its tasks on to
//! the executor below.
//!
//! | guarantee | executor |
//! |---|---|
//! | at most a fixed number of tasks is under way | [`BoundedExecutor`] |
//! | the tasks that ran at an abrupt shutdown are known | [`TrackingExecutor`] |
//! | a task's own code for its cancellation is called | [`CancellingExecutor`] |
//! | one task at a time, in order | [`SerialExecutor`]; for each key: [`StripedExecutor`] |
//! | a test decides what runs when | [`ManualExecutor`], which runs its tasks itself |
//!
//! They share two parts: the [life](lifecycle) of such an executor, and the [strand](strand).

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
