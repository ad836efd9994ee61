//! Tests `cargo course` as a user at a terminal sees it: the real program, its output and its exit
//! status.

mod book;
mod book_check;
mod breaks;
mod export;
mod fixture;
mod learner;
#[cfg(target_os = "linux")]
mod live;
mod load;
mod running;
mod schedules;
mod serve;
mod submissions;
#[cfg(unix)]
mod two_stages;
#[cfg(target_os = "linux")]
mod watch;
