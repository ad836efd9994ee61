//! The values that the system reports about this process: memory, descriptors, threads, and processor
//! time. The values come from `/proc`, so they exist only on Linux.

use super::Samples;
use super::family;
use std::time::{SystemTime, UNIX_EPOCH};

/// Measures this process, as far as the system reports its values.
pub(super) fn source() -> impl Fn(&mut Samples) + Send + Sync {
    let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    move |samples| {
        samples.seconds(&family::START_TIME, start);
        #[cfg(target_os = "linux")]
        look_into_proc(samples);
    }
}

/// Skips values that it cannot read, for instance because there is no `/proc`, or no free descriptor
/// for reading it.
#[cfg(target_os = "linux")]
fn look_into_proc(samples: &mut Samples) {
    use std::fs;

    /// The unit in which Linux reports processor time to programs; the kernel itself may use another
    /// unit.
    const TICKS_PER_SECOND: f64 = 100.0;

    if let Ok(stat) = fs::read_to_string("/proc/self/stat")
        && let Some((_, fields)) = stat.rsplit_once(") ")
    {
        // The name may contain any character, so the parser reads only the text after the name. The
        // text after the name begins with the state, which is field 3 of `man 5 proc_pid_stat`.
        let ticks = |number: usize| fields.split(' ').nth(number - 3)?.parse::<u32>().ok();
        if let (Some(user), Some(system)) = (ticks(14), ticks(15)) {
            samples.seconds(&family::CPU, (f64::from(user) + f64::from(system)) / TICKS_PER_SECOND);
        }
    }
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let value = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse::<u64>().ok()
        };
        if let (Some(kib), Some(threads)) = (value("VmRSS:"), value("Threads:")) {
            samples.count(&family::RESIDENT, kib * 1024);
            samples.count(&family::THREADS, threads);
        }
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        let is_its_own = 1; // the descriptor that this reading itself uses
        samples.count(&family::OPEN_FDS, (open.count() as u64).saturating_sub(is_its_own));
    }
}
