//! The rows: workload E, and other workloads in which fork/join pools behave differently.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bench::contest::{self, Cost, Goal, Measure, Peer};
use cpu_time::ProcessTime;
use executor::fork_join;
use rayon::slice::ParallelSliceMut;

use crate::sides::{Chili, Ours, Rayon, Sequential, Side, chili_pool, our_pool, rayon_pool};
use crate::sorts::{better_merge_sort, merge_sort};
use crate::work::{Node, coarse, fibonacci, joins_of_fibonacci, numbers, shallow};

pub(crate) const NAMES: [&str; 10] = [
    "E1-overhead",
    "E1",
    "E1-coarse",
    "E2",
    "E2-by-hand",
    "E2-better-merge",
    "E3",
    "shallow",
    "wake-up",
    "idle",
];

pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) unit: &'static str,
    pub(crate) ours: Measure,
    pub(crate) peers: Vec<Peer>,
}

pub(crate) fn row(name: &str, workers: usize) -> Row {
    match name {
        "E1-overhead" => overhead(),
        "E1" => in_pools("fib(32), a join for each call", "ns per join", workers, Fibonacci, [&[]; 2]),
        "E1-coarse" => {
            in_pools("64 pieces of about 80 µs", "ms", workers, Coarse, [&[Goal::Time(0.95)], &[]])
        }
        "E2" => library_sorts(workers),
        "E2-by-hand" => {
            in_pools("merge sort of 10 M numbers", "ms", workers, sort(false), [&[Goal::Time(0.9)], &[]])
        }
        "E2-better-merge" => better_merge(workers),
        "E3" => tree(workers),
        "shallow" => {
            in_pools("a million joins in a loop, not nested", "ns per join", workers, Shallow, SHALLOW_GOALS)
        }
        "wake-up" => wake_up(workers),
        _ => idle(),
    }
}

/// The goals of the row `shallow`, beside rayon and beside chili.
const SHALLOW_GOALS: [&[Goal]; 2] = [&[Goal::Time(1.0), Goal::Cpu(1.0)], &[Goal::Time(3.0)]];

/// A computation, and the unit in which its time is measured.
trait Work: Copy + Sync + 'static {
    /// The input of one run, which is made before the time of the run begins.
    type Input: Send;
    fn input(self) -> Self::Input;
    fn run<S: Side>(self, context: &mut S::Context<'_>, input: &mut Self::Input) -> u64;
    /// Returns the number of nanoseconds in one unit of the time.
    fn per(self) -> f64;
    /// Returns the mode in which the Java peer makes the same computation.
    fn java(self) -> Option<&'static str> {
        None
    }
}

fn timed(per: f64, run: impl FnOnce() -> u64, expected: Option<u64>) -> anyhow::Result<(Cost, u64)> {
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let result = run();
    let (wall, cpu) = (wall.elapsed(), cpu.elapsed());
    ensure!(expected.is_none_or(|expected| expected == result), "{result} is the wrong result");
    Ok((Cost::of(wall, Some(cpu), per), result))
}

/// Returns the result that one thread computes; each pool must return the same result.
fn reference<W: Work>(work: W) -> u64 {
    work.run::<Sequential>(&mut (), &mut work.input())
}

fn sequential<W: Work>(work: W) -> Measure {
    Box::new(move || {
        let mut input = work.input();
        Ok(timed(work.per(), || work.run::<Sequential>(&mut (), &mut input), None)?.0)
    })
}

fn ours<W: Work>(work: W, workers: usize, expected: u64) -> Measure {
    let pool = our_pool(workers);
    Box::new(move || {
        let mut input = work.input();
        let run = || pool.invoke(|| work.run::<Ours>(&mut (), &mut input)).expect("it is not shut down");
        Ok(timed(work.per(), run, Some(expected))?.0)
    })
}

fn rayon<W: Work>(work: W, workers: usize, expected: u64) -> Measure {
    let pool = rayon_pool(workers);
    Box::new(move || {
        let mut input = work.input();
        let run = || pool.install(|| work.run::<Rayon>(&mut (), &mut input));
        Ok(timed(work.per(), run, Some(expected))?.0)
    })
}

fn chili<W: Work>(work: W, workers: usize, expected: u64) -> Measure {
    let pool = chili_pool(workers);
    Box::new(move || {
        let mut input = work.input();
        let run = || work.run::<Chili>(&mut pool.scope(), &mut input);
        Ok(timed(work.per(), run, Some(expected))?.0)
    })
}

/// The number of runs that a Java peer makes before a run counts.
const JAVA_WARM_UPS: u32 = 10;

/// The processor time of a Java peer is left out, because it would include the time of the JVM's compiler.
fn java(mode: &'static str, per: f64, workers: usize) -> anyhow::Result<Measure> {
    let mut run =
        contest::java("src/bin/forkjoin/Forks.java", mode, JAVA_WARM_UPS, workers.to_string(), per)?;
    Ok(Box::new(move || Ok(Cost { cpu: None, ..run()? })))
}

fn peer(
    name: &'static str,
    goals: &'static [Goal],
    start: impl FnOnce() -> anyhow::Result<Measure> + 'static,
) -> Peer {
    Peer { name, goals, start: Box::new(start) }
}

/// Runs one computation in each pool. The goals are ratios of our value to the values of rayon and of chili.
fn in_pools<W: Work>(
    what: &str,
    unit: &'static str,
    workers: usize,
    work: W,
    [rayon_goals, chili_goals]: [&'static [Goal]; 2],
) -> Row {
    let expected = reference(work);
    let mut peers = vec![
        peer("rayon", rayon_goals, move || Ok(rayon(work, workers, expected))),
        peer("chili", chili_goals, move || Ok(chili(work, workers, expected))),
        peer("one thread, plain calls", &[], move || Ok(sequential(work))),
    ];
    if let Some(mode) = work.java() {
        peers.push(peer("Java ForkJoinPool", &[], move || java(mode, work.per(), workers)));
    }
    Row { what: format!("{what}, {workers} workers"), unit, ours: ours(work, workers, expected), peers }
}

// ----- E1 -----

#[derive(Clone, Copy)]
struct Fibonacci;

const N: u32 = 32;

impl Work for Fibonacci {
    type Input = ();
    fn input(self) {}
    fn run<S: Side>(self, context: &mut S::Context<'_>, (): &mut ()) -> u64 {
        fibonacci::<S>(context, N)
    }
    fn per(self) -> f64 {
        joins_of_fibonacci(N) as f64
    }
    fn java(self) -> Option<&'static str> {
        Some("fibonacci")
    }
}

/// Measures the extra cost of a join over two plain calls, with one worker. The same recursion without joins
/// is measured just before, and its time is subtracted.
fn overhead() -> Row {
    fn less_plain_calls(mut measure: Measure) -> Measure {
        let mut plain = sequential(Fibonacci);
        Box::new(move || {
            let (plain, all) = (plain()?, measure()?);
            let cpu = all.cpu.zip(plain.cpu).map(|(cpu, plain)| cpu - plain);
            Ok(Cost { wall: all.wall - plain.wall, cpu, ..all })
        })
    }
    let expected = reference(Fibonacci);
    let peers = vec![
        peer("chili", &[Goal::Time(0.35)], move || Ok(less_plain_calls(chili(Fibonacci, 1, expected)))),
        peer("rayon", &[], move || Ok(less_plain_calls(rayon(Fibonacci, 1, expected)))),
        peer("Java ForkJoinPool", &[], || Ok(less_plain_calls(java("fibonacci", Fibonacci.per(), 1)?))),
    ];
    let what = "fib(32), a join for each call, one worker, less plain calls".to_owned();
    Row { what, unit: "ns per join", ours: less_plain_calls(ours(Fibonacci, 1, expected)), peers }
}

#[derive(Clone, Copy)]
struct Coarse;

impl Work for Coarse {
    type Input = ();
    fn input(self) {}
    fn run<S: Side>(self, context: &mut S::Context<'_>, (): &mut ()) -> u64 {
        coarse::<S>(context, 64, 60_000)
    }
    fn per(self) -> f64 {
        1e6
    }
}

#[derive(Clone, Copy)]
struct Shallow;

impl Work for Shallow {
    type Input = ();
    fn input(self) {}
    fn run<S: Side>(self, context: &mut S::Context<'_>, (): &mut ()) -> u64 {
        shallow::<S>(context, 1_000_000)
    }
    fn per(self) -> f64 {
        1e6
    }
}

// ----- E2 -----

const NUMBERS: usize = 10_000_000;

#[derive(Clone, Copy)]
struct Sort {
    unsorted: &'static [u32],
    is_better: bool,
}

fn sort(is_better: bool) -> Sort {
    Sort { unsorted: numbers(NUMBERS).leak(), is_better }
}

impl Work for Sort {
    /// The numbers to sort, and scratch space of the same length.
    type Input = (Vec<u32>, Vec<u32>);

    fn input(self) -> Self::Input {
        (self.unsorted.to_vec(), self.unsorted.to_vec())
    }

    fn run<S: Side>(self, context: &mut S::Context<'_>, (all, scratch): &mut Self::Input) -> u64 {
        let sort = if self.is_better { better_merge_sort::<S> } else { merge_sort::<S> };
        sort(context, all, scratch);
        u64::from(all.is_sorted())
    }

    fn per(self) -> f64 {
        1e6
    }

    fn java(self) -> Option<&'static str> {
        (!self.is_better).then_some("merge-sort")
    }
}

fn better_merge(workers: usize) -> Row {
    let (better, listing) = (sort(true), sort(false));
    let peers = vec![
        peer("rayon, the plain listing", &[Goal::Time(0.5)], move || Ok(rayon(listing, workers, 1))),
        peer("rayon, the same listing", &[], move || Ok(rayon(better, workers, 1))),
        peer("chili, the same listing", &[], move || Ok(chili(better, workers, 1))),
    ];
    let what = format!("merge sort of 10 M numbers with a better merge, {workers} workers");
    Row { what, unit: "ms", ours: ours(better, workers, 1), peers }
}

fn library_sorts(workers: usize) -> Row {
    fn sorts(mut sort: impl FnMut(&mut [u32]) + 'static) -> Measure {
        let unsorted = numbers(NUMBERS);
        Box::new(move || {
            let mut all = unsorted.clone();
            let run = || {
                sort(&mut all);
                1
            };
            let (cost, _) = timed(1e6, run, None)?;
            ensure!(all.is_sorted(), "it is not sorted");
            Ok(cost)
        })
    }
    let pool = our_pool(workers);
    let ours = sorts(move |all| {
        pool.invoke(|| fork_join::par_sort_unstable(all)).expect("it is not shut down");
    });
    let peers = vec![
        peer("rayon par_sort_unstable", &[Goal::Time(0.65)], move || {
            let pool = rayon_pool(workers);
            Ok(sorts(move |all| pool.install(|| all.par_sort_unstable())))
        }),
        peer("std sort_unstable, one thread", &[], || Ok(sorts(<[u32]>::sort_unstable))),
        peer("Java Arrays.parallelSort", &[], move || java("parallel-sort", 1e6, workers)),
    ];
    Row { what: format!("10 M random u32, {workers} workers"), unit: "ms", ours, peers }
}

// ----- E3 -----

const LEVELS: u32 = 24;

#[derive(Clone, Copy)]
struct Tree(&'static Node);

impl Work for Tree {
    type Input = ();
    fn input(self) {}
    fn run<S: Side>(self, context: &mut S::Context<'_>, (): &mut ()) -> u64 {
        self.0.sum::<S>(context)
    }
    fn per(self) -> f64 {
        f64::from(1_u32 << LEVELS)
    }
    fn java(self) -> Option<&'static str> {
        Some("tree")
    }
}

fn tree(workers: usize) -> Row {
    let work = Tree(Box::leak(Box::new(Node::tree(LEVELS))));
    let expected = reference(work);
    let mut row =
        in_pools("the sum of a tree of 2^24 nodes", "ns per node", workers, work, [&[], &[Goal::Time(0.65)]]);
    let floor = move || -> anyhow::Result<Measure> {
        Ok(Box::new(move || Ok(timed(work.per(), || work.0.sum_by_two_threads(), Some(expected))?.0)))
    };
    row.peers.push(peer("two threads, a half each, no pool", &[], floor));
    row
}

// ----- asleep -----

/// Measures how long it takes until a second thread runs, if all workers were asleep before.
fn wake_up(workers: usize) -> Row {
    let pool = our_pool(workers.max(2));
    let ours = until_a_second_thread(move |first, second| {
        pool.invoke(|| fork_join::join(first, second)).expect("it is not shut down");
    });
    // Chili is left out, because it offers a half only at a later join, so it never offers the half
    // of a single join.
    let peers = vec![peer("rayon", &[], move || {
        let pool = rayon_pool(workers.max(2));
        Ok(until_a_second_thread(move |first, second| _ = pool.install(|| rayon::join(first, second))))
    })];
    Row { what: "until a second thread runs anything, pool asleep".into(), unit: "µs", ours, peers }
}

type Half<'a> = &'a (dyn Fn() + Sync);

fn until_a_second_thread(join: impl Fn(Half<'_>, Half<'_>) + 'static) -> Measure {
    Box::new(move || {
        thread::sleep(Duration::from_millis(20)); // so that no worker spins any more
        let start = Instant::now();
        let begun = Mutex::new(None);
        let is_there = || begun.lock().is_ok_and(|begun| begun.is_some());
        let waits = || {
            while !is_there() && start.elapsed() < Duration::from_secs(1) {
                std::hint::spin_loop();
            }
        };
        join(&waits, &|| *begun.lock().expect("it does not panic") = Some(start.elapsed()));
        let begun = begun.lock().expect("it does not panic").context("the second half was not called")?;
        Ok(Cost::of(begun, None, 1e3))
    })
}

// ----- idle -----

/// Measures the processor time of eight workers that are idle after some work.
fn idle() -> Row {
    let ours = idles(|| {
        let pool = our_pool(8);
        pool.invoke(begin::<Ours>).expect("it is not shut down");
        pool
    });
    let peers = vec![
        peer("rayon", &[], || {
            Ok(idles(|| {
                let pool = rayon_pool(8);
                pool.install(begin::<Rayon>);
                pool
            }))
        }),
        peer("chili", &[], || {
            Ok(idles(|| {
                let pool = chili_pool(8);
                coarse::<Chili>(&mut pool.scope(), 64, 10_000);
                pool
            }))
        }),
    ];
    Row { what: "eight idle workers".into(), unit: "µs of processor time per second", ours, peers }
}

fn begin<S: for<'a> Side<Context<'a> = ()>>() -> u64 {
    coarse::<S>(&mut (), 64, 10_000)
}

fn idles<P>(make: impl Fn() -> P + 'static) -> Measure {
    Box::new(move || {
        let pool = make();
        thread::sleep(Duration::from_millis(100));
        let used = ProcessTime::now();
        thread::sleep(Duration::from_secs(1));
        let used = used.elapsed();
        drop(pool);
        Ok(Cost::of(used, None, 1e3))
    })
}
