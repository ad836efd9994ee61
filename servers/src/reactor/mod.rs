//! An event loop: one thread that serves thousands of connections.
//!
//! A thread that serves one client waits most of the time. An event loop waits for all its clients at once.
//! The system reports which connections have changed, and each of them gets a
//! [turn](connection::Connection::turn), in which it makes as much progress as possible without waiting.
//!
//! Handlers may run on the loop's thread, but while a handler computes or waits, no other client is served.
//! Instead, the loop can [hand requests over](Reactor::handing_over) to other threads, and itself only
//! read, parse and write.
//!
//! | room | what it holds |
//! |---|---|
//! | `event_loop` | the loop, and the connections that it looks after |
//! | `acceptor` | its listener |
//! | `deadlines` | when to look at a connection even without an event |
//! | `turn` | what the loop lends to the connection whose turn it is |
//! | `connection` | one connection: how far it can go without waiting |
//! | `pipeline` | its requests that were handed over, until their answers are sent |
//! | `send_buffer` | its answers that the client has not taken yet |
//! | `handoff` | a request on its way to another thread, and the answer on its way back |
//! | `loops` | several loops, each on a thread, and their end |

mod acceptor;
mod connection;
mod deadlines;
mod event_loop;
mod handoff;
mod loops;
mod pipeline;
mod send_buffer;
mod turn;

pub use event_loop::{Reactor, ReactorStats};
pub use handoff::Job;
pub use loops::Loops;
