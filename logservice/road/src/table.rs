//! The table of the steps and the promises that each step keeps.

use super::Log;
use super::properties::Property::{
    self, AcceptedMeansWritten, AfterStopAClearRefusal, NobodyBlocksForEver, OrderWithinAThread, StopEnds,
};
use super::{
    s1_no_stop::LogWriter, s2_racing_flag::FlaggedLog, s3_wrong_lock::TwoLockLog,
    s4_kept_reservation::KeepingLog, s5_reservations::LogService, s6_executor_service::ExecutorLog,
    s7_cached_pool::CachedPoolLog, s8_poison_pill::PillLog, s9_pill_and_gate::GatedPillLog,
};

/// A step of the lesson.
pub struct Step {
    /// Its number.
    pub number: usize,
    /// The step's name in the table.
    pub name: &'static str,
    /// The promises that the step does not keep.
    pub breaks: &'static [Property],
    check: fn(Property) -> fn(),
}

impl Step {
    /// Returns true if the step keeps the promise.
    pub fn keeps(&self, property: Property) -> bool {
        !self.breaks.contains(&property)
    }

    /// Returns the function that checks a promise for this step.
    pub fn check(&self, property: Property) -> fn() {
        (self.check)(property)
    }
}

/// Returns all steps, in their order.
pub fn steps() -> [Step; 9] {
    [
        step::<LogWriter>(1, "no stop", &[AcceptedMeansWritten, NobodyBlocksForEver, AfterStopAClearRefusal]),
        step::<FlaggedLog>(2, "racing flag", &[AcceptedMeansWritten, NobodyBlocksForEver]),
        step::<TwoLockLog>(3, "wrong lock", &[AcceptedMeansWritten, StopEnds, NobodyBlocksForEver]),
        step::<KeepingLog>(4, "kept reservation", &[StopEnds]),
        step::<LogService>(5, "reservations", &[]),
        step::<ExecutorLog>(6, "executor service", &[]),
        step::<CachedPoolLog>(7, "cached pool", &[AcceptedMeansWritten, OrderWithinAThread]),
        step::<PillLog>(8, "poison pill", &[AcceptedMeansWritten, NobodyBlocksForEver]),
        step::<GatedPillLog>(9, "pill and gate", &[]),
    ]
}

fn step<L: Log>(number: usize, name: &'static str, breaks: &'static [Property]) -> Step {
    Step { number, name, breaks, check: Property::check::<L> }
}
