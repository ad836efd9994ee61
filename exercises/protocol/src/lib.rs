//! What the exercises' tests, their proof and `cargo course` must agree on.
//!
//! Three programs work on an exercise. Its test programs (with `exercises-harness`) check the learner's file;
//! `exercises-proof` checks the tests; `cargo course` starts the tests and shows what they found. Each fact
//! that two of them need is here, and only here:
//!
//! * [`Exercise`] is `exercise.toml`: the one list of an exercise's properties. Its [wrong answers](wrong)
//!   are `wrong.diff`, and [`Minutes`] how long it takes. [`Contents`] is the order of the book, which is
//!   that of the exercises.
//! * [`Kinds`] are the exercises that are not packages: to mend, to predict, and to schedule.
//! * [`Mode`] is where a property is checked: under the model, or on real threads.
//! * [`State`] is how a property fared. [`Failure`] is what a test found, as data and as the text that a
//!   learner reads on a [`Terminal`]. A [`schedule`] is what led to it, and [`svg`] its picture. [`Place`]
//!   decides which of an answer's failures the learner sees first.
//! * A [`graph`] is a small program with all of its schedules, in which a learner plays the scheduler.
//! * [`Source`] is a look at the learner's file: what goes past `crate::sync`, and what is a test of the
//!   learner's own.
//! * [`PROPERTY`], [`ROUND`], [`TRACE`] and [`ONLY`] are what the programs tell each other through the
//!   environment.
//!
//! It knows neither shuttle nor Cargo, so it is built in seconds.

mod contents;
mod counted;
mod exercise;
mod failure;
pub mod graph;
mod kinds;
mod minutes;
mod mode;
mod picture;
pub mod schedule;
mod shown;
mod source;
mod terminal;
pub mod wrong;

pub use contents::{Contents, Page};
pub use counted::counted;
pub use exercise::{Exercise, Model, Property, all};
pub use failure::{Failure, State, Verdict};
pub use kinds::{Choice, Kinds, Mend, Predict, Shown, Task};
pub use minutes::{Minutes, with_minutes};
pub use mode::Mode;
pub use picture::{svg, told};
pub use shown::{Place, SOON};
pub use source::{Refused, Source, WHY};
pub use terminal::{Terminal, paragraph};
pub use wrong::Wrong;

/// Names the property that a test program must run in its own process.
pub const PROPERTY: &str = "EXERCISE_PROPERTY";

/// Which schedules the model tries: 0 is what a learner gets, the proof asks for others.
pub const ROUND: &str = "EXERCISE_ROUND";

/// A directory. A test program writes there how each property fared: a [`State`] as `<property>.json`.
pub const TRACE: &str = "EXERCISE_TRACE";

/// Names the exercises whose answers the proof builds, with a space between two names; of a single one it
/// builds the wrong answers for real threads, too. Without this variable the proof builds the answers to all
/// exercises, which takes minutes.
pub const ONLY: &str = "EXERCISE_ONLY";
