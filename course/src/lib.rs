//! What `cargo course` does, without its command line.
//!
//! Somebody who types `cargo course` wants to read the book, and the book is about the server that
//! brings it to them. So the steps are few and in this order:
//!
//! 1. [`workspace`] finds the project, wherever the command was typed;
//! 2. [`includes`] proves that every listing the book promises exists;
//! 3. [`book`] builds the book, and takes no complaint of mdBook's for a success;
//! 4. [`serve`] hands it out, one task per connection, on the course's own thread pool.
//!
//! [`load`] is for a reader who has started one of the servers and wants to see it work.
//!
//! Every error is a sentence that says what to do next.

pub mod book;
pub mod includes;
mod complaints;
pub mod serve;
pub mod load;
pub mod workspace;
