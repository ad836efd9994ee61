//! The watchdog: a thread of a test's process that ends a property if the property does not end without help.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::Duration;

use cpu_time::ProcessTime;

/// The line that a child writes from time to time, so that its parent knows that the watchdog works.
const ALIVE: &str = "\u{1e}alive";
/// The time between two checks of the watchdog.
const TICK: Duration = Duration::from_millis(500);
/// A process that has used this much processor time since the last event counts as computing, and not only as
/// waiting.
const COMPUTES: Duration = Duration::from_millis(50);

/// A number that grows with each event; if the number does not change, the watchdog sees that nothing
/// happens.
static PROGRESS: AtomicU64 = AtomicU64::new(0);

/// Records that an event has happened, so that the watchdog can see it.
pub(crate) fn progressed() {
    PROGRESS.fetch_add(1, Ordering::Relaxed);
}

fn progress() -> u64 {
    PROGRESS.load(Ordering::Relaxed)
}

/// Starts the one watchdog of this process, for all properties.
static WATCHER: Once = Once::new();

/// The property that runs now.
struct Watch {
    /// The number of properties that have begun.
    property: usize,
    /// The deadline; `None` while no property runs.
    deadline: Option<Duration>,
    begun: Option<ProcessTime>,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch { property: 0, deadline: None, begun: None });

fn watched() -> MutexGuard<'static, Watch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The function that the watchdog calls when the time of a property is up. The arguments of the function are
/// the deadline, and whether some thread has kept a processor busy.
type TimeIsUp = fn(Duration, bool) -> !;

/// Notes that a property begins.
pub(crate) fn begin(deadline: Duration, time_is_up: TimeIsUp) {
    let mut watch = watched();
    watch.begun = ProcessTime::try_now().ok();
    (watch.property, watch.deadline) = (watch.property + 1, Some(deadline));
    drop(watch);
    WATCHER.call_once(|| drop(thread::spawn(move || watch_over_all(time_is_up))));
}

/// Records that the property has ended; until the next property begins, the watchdog only waits.
pub(crate) fn end() {
    watched().deadline = None;
}

/// Ends a property that has used up its processor time, or in which nothing has happened for too long. A
/// limit on wall-clock time alone would make correct answers fail on a busy machine.
fn watch_over_all(time_is_up: TimeIsUp) {
    let (mut idle, mut in_all, mut seen) = (Duration::ZERO, Duration::ZERO, progress());
    let mut busy_before = Duration::ZERO; // when something happened last
    let mut property = 0;
    loop {
        thread::sleep(TICK);
        let watch = watched();
        let Some(deadline) = watch.deadline else { continue };
        if watch.property != property {
            (property, in_all, busy_before) = (watch.property, Duration::ZERO, Duration::ZERO);
            (idle, seen) = (Duration::ZERO, progress());
        }
        in_all += TICK;
        let now = progress();
        let busy = watch.begun.as_ref().and_then(|begun| begun.try_elapsed().ok()).unwrap_or_default();
        drop(watch);
        if now == seen {
            idle += TICK;
        } else {
            (idle, seen, busy_before) = (Duration::ZERO, now, busy);
        }
        if busy >= deadline || idle >= deadline || in_all >= 10 * deadline {
            // Waiting threads use no processor time; a running thread gets at least a little, even on a busy
            // machine.
            time_is_up(deadline, busy >= deadline || busy.saturating_sub(busy_before) >= COMPUTES);
        }
        println!("{ALIVE}");
    }
}
