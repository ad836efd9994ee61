//! SIGHUP, the signal that a program gets when its terminal is closed.

/// Returns whether a program must handle SIGHUP as it handles SIGTERM: on Linux, and unless the program
/// was started with SIGHUP ignored.
///
/// `nohup` starts a program with SIGHUP ignored, and a handler would undo what the user has asked for.
/// Linux lists the ignored signals of a process in `/proc`. On other systems a program would need a system
/// call for which Rust has no safe function, so SIGHUP keeps its usual effect there.
pub fn hears_hangup() -> bool {
    const SIGHUP: u32 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|signals| u64::from_str_radix(signals.trim(), 16).ok());
    cfg!(target_os = "linux") && ignored.is_none_or(|signals| signals & (1 << (SIGHUP - 1)) == 0)
}
