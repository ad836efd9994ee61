//! Timer slack: the precision with which the system wakes a thread that sleeps until a given time.
//!
//! On Linux, a timed sleep may end as much as 50 µs late. So Linux can wake several threads at once, and the
//! processor can sleep longer. A thread can ask the system for less slack. With the feature `timer-slack`,
//! the sleeper asks for less slack, because a task is due when the sleeper wakes up.

/// Asks the system to wake the calling thread with the highest precision.
#[cfg(all(target_os = "linux", feature = "timer-slack", not(any(feature = "loom", feature = "shuttle"))))]
pub(super) fn make_fine() {
    // The requested slack is one nanosecond, because zero would mean the default. If the system refuses, the
    // only effect is that the sleeper wakes up less exactly.
    let _ = rustix::thread::set_current_timer_slack(Some(std::num::NonZeroU64::MIN));
}

/// Does nothing: only Linux has timer slack.
#[cfg(not(all(
    target_os = "linux",
    feature = "timer-slack",
    not(any(feature = "loom", feature = "shuttle"))
)))]
pub(super) fn make_fine() {}
