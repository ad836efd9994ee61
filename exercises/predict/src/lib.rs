//! Small programs whose outcome a learner predicts: `cargo course predict`.
//!
//! A program is a file with a function `run`, which returns what has happened as text. The text is the same
//! every time: a program that has threads waits for them, and never sleeps for a while. `seen` has the text
//! of each program, and a test compares the two. `cargo run -p exercises-predict NAME` runs one program.

/// A program: its name, and what it does.
pub type Program = (&'static str, fn() -> String);

macro_rules! programs {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*

        /// All of them.
        pub const PROGRAMS: &[Program] = &[$((stringify!($name), $name::run)),*];
    };
}

programs!(caller_runs, losers, cancelled_before, two_lengths, dropped_clone, on_top);
