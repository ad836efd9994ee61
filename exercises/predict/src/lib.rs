//! Small programs whose outcome a learner predicts with `cargo course predict`.
//!
//! A program is a file with a function `run`, which returns what has happened as text. The text is the same
//! every time: a program with threads waits for its threads, and never sleeps for a fixed time. The folder
//! `seen` has the text of each program, and a test compares this text with the result of `run`. `cargo run -p
//! exercises-predict NAME` runs one program.

/// The name of a program, and its function `run`.
pub type Program = (&'static str, fn() -> String);

macro_rules! programs {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*

        /// All programs.
        pub const PROGRAMS: &[Program] = &[$((stringify!($name), $name::run)),*];
    };
}

programs!(caller_runs, losers, cancelled_before, two_lengths, dropped_clone, on_top);
