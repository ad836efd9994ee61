//! Tests random computations of all kinds that are nested in each other. The test compares each result with
//! the result of one thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use executor::fork_join::{ForkJoinPool, blocking, fork, join, par_map_reduce};
use executor::{JoinError, prelude::*};

use super::pool;
use crate::support::{LONG, rounds, within_deadline};

enum Work {
    Leaf(u64),
    Panic,
    /// The code inside a computation may panic; in this case, the result is 7.
    Catch(Arc<Work>),
    Join(Arc<Work>, Arc<Work>),
    Fork(Arc<Work>, Arc<Work>),
    Scope(Vec<Arc<Work>>),
    Loop(Vec<Arc<Work>>),
    Blocking(Arc<Work>),
}

/// A generator of numbers that look random; see Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }

    fn work(&mut self, depth: u32) -> Arc<Work> {
        if depth == 0 {
            return Arc::new(if self.below(40) == 0 { Work::Panic } else { Work::Leaf(self.below(100)) });
        }
        let kind = self.below(12);
        let mut part = || self.work(depth - 1);
        Arc::new(match kind {
            0..=4 => Work::Join(part(), part()),
            5..=7 => Work::Fork(part(), part()),
            8 => Work::Scope(vec![part(), part(), part()]),
            9 => Work::Loop(vec![part(), part(), part()]),
            10 => Work::Catch(part()),
            _ => Work::Blocking(part()),
        })
    }
}

/// Returns the result that one thread computes, or `None` if the code panics.
fn alone(work: &Work) -> Option<u64> {
    let all = |parts: &[Arc<Work>]| parts.iter().map(|part| alone(part)).sum();
    match work {
        Work::Leaf(value) => Some(*value),
        Work::Panic => None,
        Work::Catch(part) => Some(alone(part).unwrap_or(7)),
        Work::Join(a, b) | Work::Fork(a, b) => Some(alone(a)? + alone(b)?),
        Work::Scope(parts) | Work::Loop(parts) => all(parts),
        Work::Blocking(part) => alone(part),
    }
}

fn together(pool: &Arc<ForkJoinPool>, work: &Work) -> u64 {
    match work {
        Work::Leaf(value) => *value,
        // `resume_unwind` does not call the panic hook, so the panic prints nothing.
        Work::Panic => resume_unwind(Box::new("drawn")),
        Work::Catch(part) => catch_unwind(AssertUnwindSafe(|| together(pool, part))).unwrap_or(7),
        Work::Join(a, b) => {
            let (a, b) = join(|| together(pool, a), || together(pool, b));
            a + b
        }
        Work::Fork(a, b) => {
            let (own, forked) = (Arc::clone(pool), Arc::clone(a));
            let a = fork(move || together(&own, &forked));
            let b = together(pool, b);
            match a.join() {
                Ok(a) => a + b,
                Err(JoinError::Panicked(panic)) => panic.resume(),
                Err(other) => unreachable!("{other:?}"),
            }
        }
        Work::Scope(parts) => {
            let sum = AtomicU64::new(0);
            let add = |part| _ = sum.fetch_add(together(pool, part), Ordering::SeqCst);
            pool.scope(|scope| parts.iter().for_each(|part| scope.spawn(move || add(part)).unwrap()))
                .unwrap();
            sum.into_inner()
        }
        Work::Loop(parts) => par_map_reduce(&parts[..], |part| together(pool, part), |a, b| a + b).unwrap(),
        Work::Blocking(part) => blocking(|| together(pool, part)),
    }
}

#[test]
fn whatever_is_inside_what_the_result_is_that_of_one_thread() {
    within_deadline(|| {
        let pools = [1, 2, 3, 8].map(|threads| Arc::new(pool(threads)));
        for seed in rounds(300) {
            let work = Chance(seed as u64).work(6);
            let expected = alone(&work);
            for pool in &pools {
                let found = catch_unwind(AssertUnwindSafe(|| pool.invoke(|| together(pool, &work)).unwrap()));
                assert_eq!(found.ok(), expected, "seed {seed}, {} workers", pool.threads());
            }
        }
        for pool in pools {
            assert!(pool.await_quiescence(LONG));
            assert_eq!(pool.stats().queued, 0);
        }
    });
}
