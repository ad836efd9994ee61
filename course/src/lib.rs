//! What `cargo course` does.
//!
//! Somebody who types `cargo course` wants to read the book, and the book is about the server that
//! brings it to them. So the steps are few and in this order:
//!
//! 1. [`workspace`] finds the project, wherever the command was typed;
//! 2. [`book`] proves that every listing the book promises exists, builds it, and takes no complaint of
//!    mdBook's for a success;
//! 3. [`serve`] hands it out, one task per connection, on the course's own thread pool.
//!
//! [`load`] is for a reader who has started one of the servers and wants to see it work.
//! [`exercises`] is for those who have read a page and want to know whether they have understood it.
//! [`log`] is the file in which one finds afterwards what happened. [`cli`] is what can be typed. Every error is a sentence that says what to do next.

pub mod cli;
pub mod workspace;
mod log;
#[cfg(feature = "book")]
pub mod copy;
#[cfg(feature = "book")]
pub mod book;
#[cfg(feature = "book")]
pub mod serve;
#[cfg(feature = "book")]
pub mod exercises;
pub mod load;
