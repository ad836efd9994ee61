//! Keys of all kinds: different keys with equal hashes, keys that are used again, and keys that panic.

use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use executor::{Identity, JoinError, StripedExecutor, ThreadPoolExecutor, prelude::*};

use super::{hold, striped};
use crate::support::{Explosions, LONG, Signal, assert_matches, eventually, occupy, within_deadline};

#[test]
fn identities_are_equal_to_themselves_only() {
    within_deadline(|| {
        let striped = striped(2);
        let [one, other] = [Arc::new(String::from("same")), Arc::new(String::from("same"))];
        assert!(Identity::of(&one) == Identity::of(&Arc::clone(&one)));
        assert!(Identity::of(&one) != Identity::of(&other));
        let both = Arc::new(Barrier::new(2));
        let meet = |key| {
            let both = Arc::clone(&both);
            striped.submit_in(Identity::of(key), move || both.wait()).unwrap()
        };
        for handle in [meet(&one), meet(&other)] {
            handle.join_timeout(LONG).unwrap();
        }
        striped.close();
        assert_eq!(Arc::strong_count(&one), 1, "the stripe is gone with its key");
    });
}

/// A hasher that gives each key the same hash.
#[derive(Default)]
struct Constant;

impl Hasher for Constant {
    fn write(&mut self, _: &[u8]) {}
    fn finish(&self) -> u64 {
        42
    }
}

#[test]
fn keys_with_equal_hashes_are_told_apart() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(4));
        let striped =
            StripedExecutor::over(Arc::clone(&pool)).hashed_by(BuildHasherDefault::<Constant>::default());
        for _ in 0..20 {
            let logs: Arc<Vec<Mutex<Vec<usize>>>> = Arc::new((0..20).map(|_| Mutex::default()).collect());
            for n in 0..20 {
                for key in 0..20_usize {
                    let logs = Arc::clone(&logs);
                    // Some stripes are removed from the chain early: at its front, in its middle and at its
                    // end.
                    if n <= key {
                        striped.execute_in(key, move || logs[key].lock().unwrap().push(n)).unwrap();
                    }
                }
            }
            eventually("all stripes are gone", || striped.stats().stripes == 0);
            for (key, log) in logs.iter().enumerate() {
                assert!(log.lock().unwrap().iter().copied().eq(0..=key), "{key}");
            }
        }
        let busy: Vec<_> = (0..4).map(|_| occupy(&pool)).collect();
        for key in [3, 1, 3, 2, 1] {
            striped.execute_in(key, || ()).unwrap();
        }
        assert_eq!(striped.shutdown_now().len(), 5);
        assert_eq!(striped.stats().stripes, 0);
        drop(busy);
    });
}

/// One of two stripes ends while the other stripe runs, and only the stripe that has ended is removed.
#[test]
fn of_two_keys_with_equal_hashes_the_one_that_has_ended_leaves() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let striped = StripedExecutor::over(pool).hashed_by(BuildHasherDefault::<Constant>::default());
        let (begun, end) = (Signal::new(), Signal::new());
        let (is_begun, until) = (begun.clone(), end.clone());
        let first = move || {
            is_begun.set();
            until.wait();
        };
        let first = striped.submit_in("first", first).unwrap();
        begun.wait();
        striped.submit_in("second", || ()).unwrap().join_timeout(LONG).unwrap();
        eventually("the second is gone", || striped.stats().stripes == 1);
        let behind = striped.submit_in("first", || 1).unwrap();
        let stats = striped.stripe("first").stats();
        assert_eq!((stats.running, stats.queued), (1, 1));
        end.set();
        first.join_timeout(LONG).unwrap(); // the signal has ended it
        assert_eq!(behind.join_timeout(LONG).unwrap(), 1);
        striped.close();
    });
}

type OneChain = StripedExecutor<&'static str, Arc<ThreadPoolExecutor>, BuildHasherDefault<Constant>>;

/// Makes a striped executor whose keys all have the same hash; returns the executor and its pool.
fn all_in_one_chain(threads: usize) -> (Arc<ThreadPoolExecutor>, OneChain) {
    let pool = Arc::new(ThreadPoolExecutor::fixed(threads));
    let striped = StripedExecutor::over(Arc::clone(&pool)).hashed_by(BuildHasherDefault::default());
    (pool, striped)
}

/// Returns a task for a stripe, and two signals. The task sets the first signal when it begins, and runs
/// until the second signal is set.
fn holds() -> (impl FnOnce() + Send + 'static, Signal, Signal) {
    let (begun, end) = (Signal::new(), Signal::new());
    let (is_begun, until) = (begun.clone(), end.clone());
    let holds = move || {
        is_begun.set();
        until.wait();
    };
    (holds, begun, end)
}

/// The middle stripe is removed from its chain. The table must still find the stripe behind the middle
/// stripe.
#[test]
fn of_three_keys_with_equal_hashes_the_one_in_the_middle_takes_none_with_it() {
    within_deadline(|| {
        let (_pool, striped) = all_in_one_chain(3);
        let [first, middle, last] = ["first", "middle", "last"].map(|key| {
            let (task, begun, end) = holds();
            striped.execute_in(key, task).unwrap();
            begun.wait();
            end
        });
        middle.set();
        eventually("it is gone", || striped.stripe("middle").stats().running == 0);
        assert_eq!(striped.stripe("last").stats().running, 1);
        assert_eq!(striped.stats().stripes, 2);
        first.set();
        last.set();
        striped.close();
    });
}

/// Two stripes share a table. The executor ends only when both stripes have ended.
#[test]
fn of_two_keys_with_equal_hashes_the_end_waits_for_both() {
    within_deadline(|| {
        let (pool, striped) = all_in_one_chain(2);
        let [first, last] = ["first", "last"].map(|key| {
            let (task, begun, end) = holds();
            striped.execute_in(key, task).unwrap();
            begun.wait();
            end
        });
        striped.shutdown();
        first.set();
        eventually("its thread is free", || pool.stats().active == 1);
        assert!(!striped.is_terminated());
        last.set();
        assert!(striped.await_termination(LONG));
    });
}

/// A key whose method `hash` or `eq` panics when the test tells it to panic.
struct Hostile {
    value: u32,
    in_hash: bool,
    in_eq: bool,
}

impl Hostile {
    fn tame(value: u32) -> Self {
        Self { value, in_hash: false, in_eq: false }
    }
}

impl Hash for Hostile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(!self.in_hash, "in `hash`");
        self.value.hash(state);
    }
}

impl PartialEq for Hostile {
    fn eq(&self, other: &Self) -> bool {
        assert!(!self.in_eq && !other.in_eq, "in `eq`");
        self.value == other.value
    }
}

impl Eq for Hostile {}

#[test]
fn a_key_that_panics_refuses_its_task_and_harms_no_other() {
    within_deadline(|| {
        let striped = striped(1);
        let end = hold(&striped, Hostile::tame(1));
        let before = striped.stats();
        for (in_hash, in_eq) in [(true, false), (false, true)] {
            let task = executor::FutureTask::new(|| ());
            let key = Hostile { value: 1, in_hash, in_eq };
            let submit = AssertUnwindSafe(|| drop(striped.execute_in(key, task.task)));
            assert!(catch_unwind(submit).is_err());
            assert_matches!(task.handle.join(), Err(JoinError::Cancelled(_)));
            assert_eq!(striped.stats(), before);
        }
        let next = striped.submit_in(Hostile::tame(1), || 1).unwrap();
        end.set();
        assert_eq!(next.join_timeout(LONG).unwrap(), 1);
        striped.close();
    });
}

/// A key that panics when it is dropped.
struct Bomb(u32, #[expect(dead_code, reason = "it is dropped")] crate::support::Bomb);

impl Hash for Bomb {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialEq for Bomb {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Bomb {}

#[test]
fn a_key_that_panics_when_it_is_dropped_harms_nobody() {
    within_deadline(|| {
        let explosions = Explosions::default();
        let striped = striped(2);
        let ran = Arc::new(AtomicUsize::new(0));
        for n in 0..20 {
            let ran = Arc::clone(&ran);
            let task = move || {
                ran.fetch_add(1, Ordering::SeqCst);
            };
            let key = Bomb(n % 3, explosions.bomb());
            striped.execute_in(key, task).unwrap();
        }
        striped.close();
        assert_eq!((ran.load(Ordering::SeqCst), explosions.count()), (20, 20));
        assert_eq!(striped.stats().stripes, 0);
    });
}

#[test]
fn a_key_may_use_the_executor_when_it_is_dropped() {
    struct Talkative(Arc<StripedExecutor<Option<Box<Talkative>>, Arc<ThreadPoolExecutor>>>);
    impl Drop for Talkative {
        fn drop(&mut self) {
            assert!(self.0.stats().stripes < 10);
            self.0.execute_in(None, || ()).unwrap();
        }
    }
    impl Hash for Talkative {
        fn hash<H: Hasher>(&self, _: &mut H) {}
    }
    impl PartialEq for Talkative {
        fn eq(&self, _: &Self) -> bool {
            true
        }
    }
    impl Eq for Talkative {}
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let striped = Arc::new(StripedExecutor::over(Arc::clone(&pool)));
        for _ in 0..50 {
            let key = Some(Box::new(Talkative(Arc::clone(&striped))));
            striped.submit_in(key, || ()).unwrap().join_timeout(LONG).unwrap();
        }
        eventually("all stripes are gone", || {
            striped.stats().stripes == 0 && Arc::strong_count(&striped) == 1
        });
    });
}
