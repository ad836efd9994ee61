//! What somebody at a terminal sees of `cargo course`: the real program, its output and its exit status.

mod book;
mod book_check;
mod fixture;
mod learner;
mod load;
mod running;
mod schedules;
mod serve;
#[cfg(unix)]
mod two_stages;
#[cfg(target_os = "linux")]
mod watch;
