//! The progress of a learner in one stage of an exercise. A long exercise is divided into two stages.

use super::check::Checked;
use exercises_protocol::Exercise;
use std::fmt;

/// A stage, and the number of its properties that hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// The number of the stage: 1 or 2.
    pub number: u8,
    /// The number of properties of the stage that hold.
    pub holding: usize,
    /// The number of properties of the stage.
    pub of: usize,
}

impl Stage {
    /// Returns the stage with this number before any property holds; returns `None` if the exercise
    /// has no stages.
    pub fn begin(exercise: &Exercise, number: u8) -> Option<Self> {
        let of = exercise.properties.iter().filter(|property| property.stage == number).count();
        exercise.second_stage.as_ref().map(|_| Self { number, holding: 0, of })
    }

    /// Returns the stage with this number according to a check; returns `None` if the check has run no
    /// test.
    pub fn seen(exercise: &Exercise, number: u8, properties: &[Checked]) -> Option<Self> {
        let of_it = properties.iter().filter(|checked| checked.stage == number);
        let holding = of_it.filter(|checked| checked.holds()).count();
        Self::begin(exercise, number)
            .filter(|_| !properties.is_empty())
            .map(|stage| Self { holding, ..stage })
    }

    /// Returns whether all properties of the stage hold.
    pub fn is_done(self) -> bool {
        self.holding == self.of
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stage {}: {} of {} properties", self.number, self.holding, self.of)
    }
}
