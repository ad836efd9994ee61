//! The edits of the project's sources: each mutant is an edit, and each experiment of the book is an edit,
//! too.

mod change;

pub use change::Change;
