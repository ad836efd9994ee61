//! The library behind `cargo course`.
//!
//! A learner who types `cargo course` wants to read the book; the server that delivers the book is a subject
//! of the book. So the library has these parts:
//!
//! 1. [`workspace`] finds the project, in whichever of its directories the command was typed;
//! 2. [`book`] proves that every listing in the book exists, builds the book, and fails if mdBook reports
//!    anything;
//! 3. [`serve`] serves the book, with one task per connection, on the course's own thread pool;
//! 4. [`live`] runs the commands of the book for a reader who presses a button on a page.
//!
//! [`load`] sends load to a server, for a reader who wants to see the server work. [`exercises`] is for a
//! reader who wants to know whether he has understood a page, and [`export`] and [`exam`] are for that
//! reader's teacher. [`ways`] has the ways through a part of the course. [`log`] keeps a record of all events
//! in a file. [`cli`] has the command line. Every error message is a sentence that says what to do next.

pub mod cli;
pub mod workspace;
mod log;
#[cfg(feature = "book")]
pub mod copy;
#[cfg(feature = "book")]
pub mod ways;
#[cfg(feature = "book")]
pub mod exam;
#[cfg(feature = "book")]
pub mod book;
#[cfg(all(feature = "book", unix))]
pub mod live;
#[cfg(feature = "book")]
pub mod serve;
#[cfg(feature = "book")]
pub mod exercises;
#[cfg(feature = "book")]
pub mod export;
pub mod load;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
