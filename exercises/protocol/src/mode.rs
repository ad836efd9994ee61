use serde::{Deserialize, Serialize};

/// Where a property is checked. Each mode is a test program of the exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// On thousands of schedules that the test decides.
    Model,
    /// On real threads.
    Real,
}

impl Mode {
    /// All modes, in the order in which they are tried.
    pub const ALL: [Self; 2] = [Self::Model, Self::Real];

    /// The name of the test program, in `tests/`.
    pub fn program(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Real => "real",
        }
    }

    /// The mode in words, for a sentence.
    pub fn place(self) -> &'static str {
        match self {
            Self::Model => "under the model",
            Self::Real => "on real threads",
        }
    }

    /// The mode whose test program has this name.
    pub fn named(program: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.program() == program)
    }
}
