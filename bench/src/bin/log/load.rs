//! The load: threads that log the same lines with each logger. This module also measures how long the calls
//! of these threads take.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// The number of threads that log, and the number of lines that each of them logs.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) threads: u32,
    pub(crate) lines: u32,
}

/// The text of one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Message {
    pub(crate) thread: u32,
    pub(crate) line: u32,
}

/// The text after the numbers; with this text, a line of our service has 97 bytes, including its line feed.
pub(crate) const TEXT: &str = "served /index.html ok";

impl Display for Message {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "thread {} line {:06} {TEXT}", self.thread, self.line)
    }
}

/// The results that one process has measured for its logger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    /// The nanoseconds from the first call until the logger has stopped.
    pub(crate) wall: u64,
    /// The processor time of all threads during this time, in nanoseconds.
    pub(crate) cpu: u64,
    /// The 50th, 99th and 99.9th percentiles of the time of a call, in nanoseconds.
    pub(crate) call: [u64; 3],
    /// The peak of resident memory so far; 0 if the system does not report it.
    pub(crate) memory: u64,
}

/// The load times only every seventh call of a thread. It can take longer to time a call than to make the
/// call. A time takes four bytes, because the memory of the times counts as memory of the process.
const EVERY: u32 = 7;

impl Measured {
    pub(crate) fn to_numbers(self) -> Vec<u64> {
        [&[self.wall, self.cpu][..], &self.call, &[self.memory]].concat()
    }
}

impl Load {
    /// Returns the messages of all threads.
    pub(crate) fn total(self) -> u64 {
        u64::from(self.threads) * u64::from(self.lines)
    }

    /// Makes each thread make its calls, and then stops the logger.
    pub(crate) fn run(self, call: impl Fn(Message) + Sync, stop: impl FnOnce()) -> Measured {
        let (barrier, cpu) = (Barrier::new(self.threads as usize), ProcessTime::now());
        let run = |thread| {
            let mut samples = Vec::with_capacity((self.lines / EVERY) as usize + 1);
            barrier.wait();
            let begin = Instant::now();
            for line in 0..self.lines {
                let message = Message { thread, line };
                if line % EVERY == 0 {
                    let before = Instant::now();
                    call(message);
                    samples.push(u32::try_from(before.elapsed().as_nanos()).unwrap_or(u32::MAX));
                } else {
                    call(message);
                }
            }
            (begin, samples)
        };
        let of_threads: Vec<_> = thread::scope(|scope| {
            let start = |n| {
                let thread = thread::Builder::new().name(format!("load-{n}"));
                thread.spawn_scoped(scope, move || run(n)).expect("the system gives threads")
            };
            let threads: Vec<_> = (0..self.threads).map(start).collect();
            threads.into_iter().map(|thread| thread.join().expect("no call panics")).collect()
        });
        drop(call); // drops its part of the logger
        stop();
        let (end, cpu, memory) = (Instant::now(), cpu.elapsed(), most_memory());
        let begin = of_threads.iter().map(|(begin, _)| *begin).min().expect("there is a thread");
        let samples = of_threads.into_iter().flat_map(|(_, samples)| samples).collect();
        let call = percentiles(samples, of_the_clock());
        Measured { wall: nanos(end - begin), cpu: nanos(cpu), call, memory }
    }
}

/// Returns the 50th, 99th and 99.9th percentiles of times in nanoseconds, minus the cost of reading the clock.
fn percentiles(mut samples: Vec<u32>, of_the_clock: Duration) -> [u64; 3] {
    samples.sort_unstable();
    let at = |of_1000: usize| {
        let place = (samples.len() * of_1000).div_ceil(1000) - 1;
        u64::from(samples[place]).saturating_sub(nanos(of_the_clock))
    };
    [500, 990, 999].map(at)
}

/// Returns the median of many measured times of an empty call: this is the cost of reading the clock.
pub(crate) fn of_the_clock() -> Duration {
    let mut empty: Vec<_> = (0..10_001)
        .map(|_| {
            let before = Instant::now();
            before.elapsed()
        })
        .collect();
    empty.sort_unstable();
    empty[empty.len() / 2]
}

pub(crate) fn nanos(time: Duration) -> u64 {
    time.as_nanos().try_into().expect("it takes less than centuries")
}

/// Returns the peak of this process's resident memory, in KiB.
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_samples_and_without_the_clock() {
        let samples = (1..=1000).rev().collect();
        assert_eq!(percentiles(samples, Duration::from_nanos(10)), [490, 980, 989]);
        assert_eq!(percentiles(vec![7], Duration::from_nanos(10)), [0, 0, 0]);
    }
}
