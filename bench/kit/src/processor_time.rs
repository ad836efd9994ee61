//! Measures the processor time that another process has used.

use std::time::Duration;

/// Returns all processor time that the process has used, user and system, in nanoseconds, if the system
/// reports it. Threads that have ended are included, but child processes are not.
///
/// (`/proc` reports hundredths of a second.)
#[cfg(target_os = "linux")]
pub fn of(process: u32) -> Option<Duration> {
    let process = nix::unistd::Pid::from_raw(process.try_into().ok()?);
    nix::time::clock_getcpuclockid(process).and_then(nix::time::ClockId::now).ok().map(Duration::from)
}

#[cfg(not(target_os = "linux"))]
pub fn of(_: u32) -> Option<Duration> {
    None
}

/// Returns the processor time of the child processes that have ended, in seconds.
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

/// Not implemented for this system: NaN.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn of_children() -> anyhow::Result<f64> {
    Ok(f64::NAN)
}
