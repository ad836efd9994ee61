//! What somebody at a terminal sees of `cargo course`: the real program, its output and its exit status.

mod book;
mod fixture;
mod load;
mod running;
mod serve;
