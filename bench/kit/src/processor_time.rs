//! Measures the processor time that another process has used.

use std::time::Duration;

/// Returns all processor time that the process has used (user and system time), in nanoseconds, if the system
/// reports this time. The time of threads that have ended is included, but the time of child processes is
/// not.
///
/// (The file in `/proc` gives the time in hundredths of a second.)
#[cfg(target_os = "linux")]
pub fn of(process: u32) -> Option<Duration> {
    let process = nix::unistd::Pid::from_raw(process.try_into().ok()?);
    nix::time::clock_getcpuclockid(process).and_then(nix::time::ClockId::now).ok().map(Duration::from)
}

#[cfg(not(target_os = "linux"))]
pub fn of(_: u32) -> Option<Duration> {
    None
}

/// Returns the processor time that the ended child processes have used, in seconds.
///
/// # Errors
/// Returns an error if the system does not report the processor time.
#[cfg(target_os = "linux")]
pub fn of_children() -> anyhow::Result<f64> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// Returns NaN, because this function is not implemented for this system.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn of_children() -> anyhow::Result<f64> {
    Ok(f64::NAN)
}
