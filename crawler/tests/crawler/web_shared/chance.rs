//! A test in which random failures occur at random moments.

use super::{LEASE, Shared, all_are_complete, signal};
use std::env;
use std::thread;
use std::time::Duration;

/// Checks that random failures of three processes and their engine, at random moments, do not change the
/// result. `SHARED_SEED` repeats a round of the test.
#[test]
#[ignore = "needs redis-server"]
fn whatever_happens_each_page_is_recorded_once() {
    let seed = env::var("SHARED_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("SHARED_SEED={seed}");
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut shared = Shared::of(400, Duration::from_millis(10), 3);
    let flags = LEASE;
    let mut children: Vec<_> = (0..3).map(|process| shared.start(process, &flags)).collect();
    let mut losses = 0;
    for round in 1..=12 {
        shared.until_asked(round * 20);
        thread::sleep(Duration::from_millis(chance.u64(..50)));
        let process = chance.usize(..3);
        // Two leases of a page may be lost, but after a third loss the page would be a dead letter.
        let what = if losses < 2 { chance.usize(..5) } else { chance.usize(2..5) };
        losses += usize::from(what < 2);
        let again = match what {
            0 => {
                children[process].kill().unwrap();
                children[process].wait().unwrap();
                true
            }
            1 => {
                signal(&children[process], "-STOP");
                thread::sleep(Duration::from_millis(chance.u64(..3000))); // perhaps longer than its lease
                signal(&children[process], "-CONT");
                false
            }
            2 => {
                signal(&children[process], "-INT");
                children[process].wait().unwrap();
                true
            }
            3 => {
                shared.engine.kill();
                thread::sleep(Duration::from_millis(chance.u64(..300)));
                shared.engine.restart();
                false
            }
            _ => {
                assert_eq!(shared.engine.say(&["CONFIG", "SET", "maxmemory", "1"]), "+OK");
                thread::sleep(Duration::from_millis(chance.u64(..300)));
                assert_eq!(shared.engine.say(&["CONFIG", "SET", "maxmemory", "0"]), "+OK");
                false
            }
        };
        if again {
            children[process] = shared.start(process, &flags);
        }
    }
    all_are_complete(children);
    all_are_complete((0..3).map(|process| shared.start(process, &flags)).collect());
    shared.assert_whole();
}
