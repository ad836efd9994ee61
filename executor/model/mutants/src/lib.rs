//! The edits of the project's sources: a mutant is one, and so is an experiment of the book.

mod change;

pub use change::Change;
