//! The edits of the project's sources: each mutant is an edit, and so is each experiment of the book.

mod change;

pub use change::Change;
