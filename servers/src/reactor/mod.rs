//! An event loop: one thread that serves thousands of connections.
//!
//! A thread that serves only one client waits most of the time. An event loop instead waits for all its
//! clients at once. The system reports which connections have changed, and each of these connections gets a
//! [turn](connection::Connection::turn), in which the connection makes as much progress as possible without
//! waiting.
//!
//! Handlers may run on the loop's thread, but while a handler computes or waits, no other client is served.
//! So the loop can [hand requests over](Reactor::handing_over) to other threads; then the loop only reads,
//! parses and writes.
//!
//! | module | what it contains |
//! |---|---|
//! | `event_loop` | the loop, and the connections that the loop serves |
//! | `acceptor` | the listener of a loop |
//! | `deadlines` | when the loop must check a connection even without an event |
//! | `turn` | what the loop lends to the connection whose turn it is |
//! | `connection` | one connection, which makes as much progress as possible without waiting |
//! | `pipeline` | the requests of one connection that other threads answer, until the answers are sent |
//! | `send_buffer` | the answers of one connection that the client has not taken yet |
//! | `handoff` | a request on its way to another thread, and the answer on its way back |
//! | `loops` | several loops, each on its own thread, and how they end |

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
