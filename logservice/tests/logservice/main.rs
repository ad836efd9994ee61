//! Tests the log service's promises on real threads.

#[cfg_attr(not(unix), allow(dead_code))]
mod place; // a folder for a log, and how long a test waits
mod load;
mod formats;
mod levels;
mod facades; // through `log` and `tracing`
mod service;

#[cfg(unix)]
mod file_sink; // a log file that is removed, moved away, truncated
#[cfg(unix)]
mod rotation; // a log file that is rotated
#[cfg(all(unix, feature = "gzip"))]
mod compression; // rotated files that are compressed
#[cfg(unix)]
mod pipes; // pipes and sockets that have no reader, or have lost their reader
#[cfg(unix)]
mod processes; // two processes on one file, a killed process, a process at its file size limit
#[cfg(unix)]
mod ends; // processes that end while their sink takes nothing
#[cfg(unix)]
mod logrotate; // the real `logrotate`, only for `.ci/run --all`
#[cfg(unix)]
mod forks; // a process that forks while its threads log
#[cfg(unix)]
mod fates; // everything that can happen to a log file, in random order or at the same time
#[cfg(unix)]
mod follow; // reading a log while it is written and rotated
