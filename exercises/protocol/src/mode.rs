use serde::{Deserialize, Serialize};

/// The way in which a property is checked. For each mode, an exercise has a test program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The property runs on thousands of schedules that the test decides.
    Model,
    /// The property runs on real threads.
    Real,
}

impl Mode {
    /// All modes, in the order in which a check tries them.
    pub const ALL: [Self; 2] = [Self::Model, Self::Real];

    /// Returns the name of the test program, in `tests/`.
    pub fn program(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Real => "real",
        }
    }

    /// Returns the mode in words, for a sentence.
    pub fn place(self) -> &'static str {
        match self {
            Self::Model => "under the model",
            Self::Real => "on real threads",
        }
    }

    /// Returns the mode whose test program has this name.
    pub fn named(program: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.program() == program)
    }
}
