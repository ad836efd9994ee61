//! How exactly the system wakes a thread that sleeps until a time.
//!
//! Linux may let a timed sleep end up to 50 µs late, so that it can wake several threads at once and the
//! processor sleeps longer. A thread may ask for less. The sleeper does, with the feature `timer-slack`: it
//! is one thread, and what it wakes up for is due.

/// Asks for the finest timer there is, for the calling thread.
#[cfg(all(target_os = "linux", feature = "timer-slack", not(any(feature = "loom", feature = "shuttle"))))]
pub(super) fn make_fine() {
    // One nanosecond: zero would mean the default. A refusal costs exactness, nothing else.
    let _ = rustix::thread::set_current_timer_slack(Some(std::num::NonZeroU64::MIN));
}

/// Only Linux has it.
#[cfg(not(all(
    target_os = "linux",
    feature = "timer-slack",
    not(any(feature = "loom", feature = "shuttle"))
)))]
pub(super) fn make_fine() {}
