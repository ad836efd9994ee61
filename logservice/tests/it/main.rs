//! What the log service promises, on real threads.

mod processes;
mod service;
