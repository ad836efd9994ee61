//! The definitions on which the exercises' tests, their proof and `cargo course` must agree.
//!
//! Three programs work on an exercise. An exercise's test programs (with `exercises-harness`) check the
//! learner's file; `exercises-proof` checks the tests; `cargo course` starts the tests and shows their
//! results. Each definition that two of the programs need is in this crate, and only here:
//!
//! * [`Exercise`] is the content of `exercise.toml`, which is the only list of an exercise's properties. The
//!   [wrong answers](wrong) of an exercise are in `wrong.diff`, and [`Minutes`] is the time that the exercise
//!   takes. [`Contents`] is the order of the book, and the exercises have the same order.
//! * [`Kinds`] are the exercises that are not packages: answers to mend, outcomes to predict, and programs to
//!   schedule.
//! * [`Mode`] says whether a property is checked under the model or on real threads.
//! * [`State`] is the result of testing a property. [`Failure`] is the result of a failed test, as data and
//!   as the text that a learner reads on a [`Terminal`]. A [`schedule`] has the steps that led to the
//!   failure, and [`svg`] draws its picture. [`Place`] decides which failure of an answer the learner sees
//!   first.
//! * A [`graph`] is a small program with all of its schedules; a learner plays the scheduler of this program.
//! * [`Source`] examines the learner's file: it finds the names that bypass `crate::sync`, and the learner's
//!   own tests.
//! * [`PROPERTY`], [`ROUND`], [`TRACE`] and [`ONLY`] are the environment variables with which the programs
//!   pass values to each other.
//!
//! This crate depends neither on shuttle nor on Cargo, so it is built in seconds.

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

/// Names the one property that a test process must run.
pub const PROPERTY: &str = "EXERCISE_PROPERTY";

/// Chooses the schedules that the model tries: a learner gets round 0, and the proof uses other rounds.
pub const ROUND: &str = "EXERCISE_ROUND";

/// The directory into which a test program writes the result of each property: a [`State`] as
/// `<property>.json`.
pub const TRACE: &str = "EXERCISE_TRACE";

/// Names the exercises whose answers the proof builds, with a space between two names. If the variable names
/// a single exercise, the proof builds the wrong answers to this exercise for real threads, too. Without this
/// variable the proof builds the answers to all exercises, which takes minutes.
pub const ONLY: &str = "EXERCISE_ONLY";
