//! The costs of the real pool on this machine.

use super::costs::{Costs, Offers};
use executor::fork_join::{ForkJoinPool, join};
use std::hint::black_box;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

fn quartile(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times[times.len() / 4]
}

pub fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times[times.len() / 2]
}

pub fn nanos(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).expect("it takes seconds")
}

/// Measures many turns and returns the lower quartile of the times, because other programs can make a turn
/// longer but never shorter.
pub fn costs() -> Costs {
    let (one, two) = (pool(1), pool(2));
    let turns =
        |turns: u32, mut turn: Box<dyn FnMut() -> u64 + '_>| quartile((0..turns).map(|_| turn()).collect());

    let offers = || (0..OFFERS).for_each(|_| _ = join(|| (), || ()));
    let offer = turns(501, Box::new(|| timed_in(&one, offers))) / OFFERS;
    let (joins, calls) = (|| leaves::<true>(16), || leaves::<false>(16));
    let plain = turns(101, Box::new(|| timed_in(&one, calls)));
    let call = turns(101, Box::new(|| timed_in(&one, joins))).saturating_sub(plain) >> 16;

    let asleep: Vec<_> = (0..201)
        .filter_map(|_| {
            thread::sleep(Duration::from_millis(1));
            met(&two)
        })
        .collect();
    let wake = quartile(asleep.iter().map(|met| met[0].first).collect()).saturating_sub(offer);
    let wake_up = quartile(asleep.iter().map(|met| met[0].second).collect());
    let steal = quartile(asleep.iter().map(|met| met[1].second).collect());

    let look = turns(101, Box::new(|| timed_in(&one, || (0..100).for_each(|_| thread::yield_now())))) / 100;
    Costs { call, offer, steal, look, patience: 10 * look, wake, wake_up, offers: Offers::Adaptive }
}

/// The number of measured offers: with so few offers, the pool does not yet count the pieces as fine.
const OFFERS: u64 = 60;

/// The times at which the two halves of a join began, counted from the call of `join`.
struct Met {
    first: u64,
    second: u64,
}

/// Measures two joins, one right after the other. Before the first join, the other worker sleeps; before the
/// second join, the other worker is looking for work.
fn met(pool: &ForkJoinPool) -> Option<[Met; 2]> {
    let meet = || {
        let (began, met) = (Instant::now(), OnceLock::new());
        let wait_for_the_thief = || {
            let first = nanos(began);
            while met.get().is_none() && began.elapsed() < Duration::from_millis(5) {
                std::hint::spin_loop();
            }
            first
        };
        let (first, ()) = join(wait_for_the_thief, || _ = met.set(nanos(began)));
        met.get().filter(|&&second| second < 5_000_000).map(|&second| Met { first, second })
    };
    pool.invoke(|| Some([meet()?, meet()?])).expect("the pool runs")
}

fn leaves<const BY_JOIN: bool>(depth: u32) -> u64 {
    match depth {
        0 => black_box(1),
        _ if BY_JOIN => {
            let (first, second) = join(|| leaves::<BY_JOIN>(depth - 1), || leaves::<BY_JOIN>(depth - 1));
            first + second
        }
        _ => leaves::<BY_JOIN>(depth - 1) + leaves::<BY_JOIN>(depth - 1),
    }
}

fn timed_in<R>(pool: &ForkJoinPool, f: impl Fn() -> R + Sync) -> u64 {
    let timed = || {
        let began = Instant::now();
        black_box(f());
        nanos(began)
    };
    pool.invoke(timed).expect("the pool runs")
}

pub fn pool(workers: usize) -> ForkJoinPool {
    ForkJoinPool::builder().threads(workers).spare_threads(0).build().expect("the settings are right")
}
