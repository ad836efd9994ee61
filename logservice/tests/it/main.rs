//! What the log service promises, on real threads.

mod formats;
mod service;
