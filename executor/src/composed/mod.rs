//! Executors that are built on other executors. Each executor of this module adds one guarantee, and passes
//! its tasks on to another executor, its *underlying* executor.
//!
//! | guarantee | executor |
//! |---|---|
//! | at most a fixed number of tasks is waiting or running | [`BoundedExecutor`] |
//! | the client learns which tasks were running at an abrupt shutdown | [`TrackingExecutor`] |
//! | a cancelled task can end its own blocking call | [`CancellingExecutor`] |
//! | one task at a time, in order | [`SerialExecutor`]; for each key: [`StripedExecutor`] |
//! | a test decides when each task runs | [`ManualExecutor`], which runs its tasks itself |
//!
//! Several executors share two parts: a [lifecycle] knows when its executor has ended, and a
//! [strand] runs tasks one at a time, in order.

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
