//! Tests the latch and the semaphore of `examples/locks_and_waiting`, and the wait function that both of them
//! use.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use crate::support::within_deadline;

#[path = "../../examples/locks_and_waiting/gates.rs"]
#[allow(unreachable_pub)] // it reads like a module of a library
mod gates;
#[path = "../../examples/locks_and_waiting/post.rs"]
#[allow(unreachable_pub, dead_code)] // the wrong ways to wait are for the example
mod post;

use gates::{Latch, Semaphore};
use post::Post;

/// A latch that notifies one waiter passes if fewer than two waiters sleep when the latch opens. So the test gives
/// the waiters some time, and has several rounds.
#[test]
fn a_latch_lets_every_waiter_go_when_it_was_counted_down() {
    within_deadline(|| {
        for _ in 0..20 {
            let latch = Arc::new(Latch::new(2));
            let about_to_wait = Arc::new(Barrier::new(4));
            let waiters: Vec<_> = (0..3)
                .map(|_| {
                    let (latch, about_to_wait) = (Arc::clone(&latch), Arc::clone(&about_to_wait));
                    thread::spawn(move || {
                        about_to_wait.wait();
                        latch.wait();
                    })
                })
                .collect();
            about_to_wait.wait();
            thread::sleep(Duration::from_millis(2));
            latch.count_down();
            assert!(waiters.iter().all(|waiter| !waiter.is_finished()));
            latch.count_down();
            for waiter in waiters {
                waiter.join().unwrap();
            }
            latch.count_down();
            latch.wait(); // the latch stays open
        }
    });
}

#[test]
fn a_semaphore_lets_as_many_in_as_it_has_permits() {
    within_deadline(|| {
        let semaphore = Semaphore::new(2);
        let (inside, most, pair) = (AtomicUsize::new(0), AtomicUsize::new(0), Barrier::new(2));
        thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| {
                    semaphore.acquire();
                    most.fetch_max(inside.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                    pair.wait();
                    inside.fetch_sub(1, Ordering::Relaxed);
                    semaphore.release();
                });
            }
        });
        assert_eq!(most.into_inner(), 2);
    });
}

#[test]
fn readers_share_the_letters() {
    within_deadline(|| {
        let post = Arc::new(Post::default());
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let post = Arc::clone(&post);
                thread::spawn(move || (0..100).map(|_| post.take(|| ()).len()).sum::<usize>())
            })
            .collect();
        (0..300).for_each(|_| post.put("x"));
        assert_eq!(readers.into_iter().map(|reader| reader.join().unwrap()).sum::<usize>(), 300);
    });
}
