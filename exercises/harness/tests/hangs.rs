//! Tests the messages and pictures about threads that wait for each other or for a missing wake-up.

use exercises_harness::model::check;
use exercises_protocol::schedule::{Action, Event};
use exercises_protocol::{Failure, SOON, svg};

mod failing;

use failing::{PROMISE, failing, message, written};

mod properties {
    use exercises_harness::expect;
    use exercises_harness::model::probe;
    use exercises_harness::model::sync::atomic::{AtomicBool, Ordering};
    use exercises_harness::model::sync::{Arc, Condvar, Mutex, mpsc, thread};

    pub(crate) fn deadlocks() {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = {
            let locks = Arc::clone(&locks);
            thread::spawn(move || {
                let _second = locks.1.lock().unwrap();
                let _first = locks.0.lock().unwrap();
            })
        };
        let first = locks.0.lock().unwrap();
        let second = locks.1.lock().unwrap();
        drop((first, second));
        expect("the other thread", "no cause", || other.join().unwrap());
    }

    /// A thread waits on a Condvar and keeps another lock. The thread that should wake the waiting thread
    /// needs this other lock.
    pub(crate) fn waits_under_another_lock() {
        let shared = Arc::new((Mutex::new(()), Mutex::new(false), Condvar::new()));
        let waiter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let _kept = shared.0.lock().unwrap();
                let mut ready = shared.1.lock().unwrap();
                while !*ready {
                    ready = shared.2.wait(ready).unwrap();
                }
            })
        };
        probe::until_asleep(1, "it waits");
        let guard = shared.0.lock().unwrap();
        *shared.1.lock().unwrap() = true;
        shared.2.notify_one();
        drop(guard);
        waiter.join().unwrap();
    }

    /// Tells a thread to end, but only if `try_lock` gets the lock.
    pub(crate) fn goes_on_without_the_lock() {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let waiter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let mut ended = shared.0.lock().unwrap();
                while !*ended {
                    ended = shared.1.wait(ended).unwrap();
                }
            })
        };
        if let Ok(mut ended) = shared.0.try_lock() {
            *ended = true;
            shared.1.notify_one();
        }
        waiter.join().unwrap();
    }

    /// Joins a thread that needs a lock which the joining thread holds.
    pub(crate) fn joins_under_a_lock() {
        let lock = Arc::new(Mutex::new(()));
        let guard = lock.lock().unwrap();
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || drop(lock.lock().unwrap()))
        };
        other.join().unwrap();
        drop(guard);
    }

    /// Three threads: each thread holds a lock that the previous thread needs.
    pub(crate) fn waits_in_a_circle() {
        let locks: Arc<Vec<Mutex<()>>> = Arc::new((0..3).map(|_| Mutex::default()).collect());
        let have = Arc::new(probe::Counter::new("all to have one"));
        let philosophers: Vec<_> = (0..3)
            .map(|n| {
                let (locks, have) = (Arc::clone(&locks), Arc::clone(&have));
                thread::spawn(move || {
                    let _left = locks[n].lock().unwrap();
                    have.add();
                    have.wait_for(3);
                    let _right = locks[(n + 1) % 3].lock().unwrap();
                })
            })
            .collect();
        for philosopher in philosophers {
            philosopher.join().unwrap();
        }
    }

    pub(crate) fn misses_the_notification() {
        let (flag, lock, changed) =
            (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(())), Arc::new(Condvar::new()));
        let waiter = {
            let (flag, lock, changed) = (Arc::clone(&flag), Arc::clone(&lock), Arc::clone(&changed));
            thread::spawn(move || {
                let mut guard = lock.lock().unwrap();
                while !flag.load(Ordering::SeqCst) {
                    guard = changed.wait(guard).unwrap();
                }
            })
        };
        flag.store(true, Ordering::SeqCst); // without the lock
        changed.notify_all();
        waiter.join().unwrap();
    }

    /// Two workers share the receiver of a channel, as in the Rust Book: one worker holds the lock while it
    /// waits for a message. The test holds the sender, and waits for both workers to end.
    pub(crate) fn keeps_the_sender() {
        let (sender, receiver) = mpsc::channel::<()>();
        let receiver = Arc::new(Mutex::new(receiver));
        let workers = [(); 2].map(|()| {
            let receiver = Arc::clone(&receiver);
            thread::spawn(move || while let Ok(()) = receiver.lock().unwrap().recv() {})
        });
        probe::until_asleep(2, "both wait for a message");
        for worker in workers {
            worker.join().unwrap();
        }
        drop(sender);
    }

    /// The test needs the lock of a thread that waits for a message.
    pub(crate) fn needs_the_lock_of_a_receiver() {
        let (sender, receiver) = mpsc::channel::<()>();
        let receiver = Arc::new(Mutex::new(receiver));
        let worker = {
            let receiver = Arc::clone(&receiver);
            thread::spawn(move || receiver.lock().unwrap().recv())
        };
        probe::until_asleep(1, "it waits for a message");
        expect("the lock", "what the property says", || drop(receiver.lock().unwrap()));
        drop(sender);
        let _ = worker.join().unwrap();
    }

    pub(crate) fn waits_in_an_if() {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let waiter = {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                let mut ready = pair.0.lock().unwrap();
                if !*ready {
                    ready = pair.1.wait(ready).unwrap();
                }
                assert!(*ready);
            })
        };
        probe::until_asleep(1, "it waits");
        *pair.0.lock().unwrap() = true;
        pair.1.notify_one();
        waiter.join().unwrap();
    }
}

#[test]
#[ignore = "meant to fail"]
fn deadlocks() {
    check("", "deadlocks", PROMISE, properties::deadlocks);
}

#[test]
fn a_deadlock_says_who_holds_what_and_is_drawn_and_written() {
    let message = message("deadlocks");
    for words in [
        "property deadlocks (under the model)",
        "nobody can go on",
        "two locks are taken in opposite orders",
        "►",
    ] {
        assert!(message.contains(words), "no {words:?} in {message}");
    }
    let failure = written("deadlocks");
    assert_eq!(failure.promise, PROMISE);
    assert!(svg(&failure, "deadlock").contains("class=\"mark\""));
}

#[test]
#[ignore = "meant to fail"]
fn waits_under_another_lock() {
    check("", "waits_under_another_lock", PROMISE, properties::waits_under_another_lock);
}

#[test]
#[ignore = "meant to fail"]
fn joins_under_a_lock() {
    check("", "joins_under_a_lock", PROMISE, properties::joins_under_a_lock);
}

#[test]
fn waiting_under_a_lock_is_told_whatever_it_waits_for() {
    let message = message("waits_under_another_lock");
    assert!(message.contains("the lock is held for too long: thread 1 has held it"), "{message}");
    assert!(message.contains("which lets go of no lock but the one that it was given"), "{message}");
    assert!(message.contains("and test needs it"), "{message}");
    let Failure { cause, schedule, .. } = joins();
    assert!(cause.contains("the lock is held for too long: test has held it"), "{cause}");
    assert!(cause.contains("for thread 1 to end, and thread 1 needs it"), "{cause}");
    assert!(matches!(schedule.events[schedule.decisive.unwrap()].action, Action::Lock(_)));
}

fn joins() -> Failure {
    failing("joins_under_a_lock");
    written("joins_under_a_lock")
}

#[test]
fn a_thread_that_wants_a_lock_leaves_an_event() {
    let schedule = joins().schedule;
    let last = |action: &Action| schedule.events.iter().rfind(|event| event.action == *action);
    assert!(last(&Action::Want(0)).is_some_and(|event| event.thread == 1), "{schedule:?}");
    assert!(last(&Action::Await(1)).is_some_and(|event| event.thread == 0), "{schedule:?}");
    assert!(schedule.threads[1].end.contains("for the lock that test has held"), "{schedule:?}");
}

#[test]
#[ignore = "meant to fail"]
fn goes_on_without_the_lock() {
    check("", "goes_on_without_the_lock", PROMISE, properties::goes_on_without_the_lock);
}

#[test]
fn what_a_try_lock_left_undone_is_told() {
    failing("goes_on_without_the_lock");
    let Failure { cause, schedule, .. } = written("goes_on_without_the_lock");
    assert!(cause.contains("test found the lock taken and went on without it"), "{cause}");
    assert!(matches!(schedule.events[schedule.decisive.unwrap()].action, Action::Step(_)));
}

#[test]
#[ignore = "meant to fail"]
fn waits_in_a_circle() {
    check("", "waits_in_a_circle", PROMISE, properties::waits_in_a_circle);
}

#[test]
fn a_circle_of_more_than_two_threads_is_told() {
    let message = message("waits_in_a_circle");
    assert!(message.contains("locks are taken in a circle: "), "{message}");
    for thread in ["thread 1", "thread 2", "thread 3"] {
        assert!(message.contains(&format!("{thread} has held one since line")), "{message}");
    }
}

#[test]
#[ignore = "meant to fail"]
fn keeps_the_sender() {
    check("", "keeps_the_sender", PROMISE, properties::keeps_the_sender);
}

/// Neither worker counts as running, and the message does not blame the lock.
#[test]
fn workers_that_share_a_receiver_sleep_until_the_last_sender_is_dropped() {
    let message = message("keeps_the_sender");
    assert!(
        message.contains("waits for a message that no thread sends any more, and a sender of its channel"),
        "{message}"
    );
    assert!(!message.contains("should sleep") && !message.contains("held for too long"), "{message}");
    for sign in ["▓ waits, and holds a lock", "░ waits for a lock"] {
        assert!(message.contains(sign), "no {sign:?} in {message}");
    }
    let failure = written("keeps_the_sender");
    let schedule = &failure.schedule;
    assert_eq!(schedule.decisive, None, "{schedule:?}");
    let ends = |words: &str| schedule.threads.iter().filter(|thread| thread.end.contains(words)).count();
    assert_eq!((ends("for a message"), ends("for the lock that thread")), (1, 1), "{schedule:?}");
    let picture = svg(&failure, "a shared receiver");
    assert!(picture.contains("class=\"holds\"") && picture.contains("class=\"wants\""), "{picture}");
}

#[test]
#[ignore = "meant to fail"]
fn needs_the_lock_of_a_receiver() {
    check("", "needs_the_lock_of_a_receiver", PROMISE, properties::needs_the_lock_of_a_receiver);
}

#[test]
fn of_a_lock_that_a_receiver_keeps_the_property_knows_more() {
    let message = message("needs_the_lock_of_a_receiver");
    assert!(
        message.contains("test waits at line") && message.contains("for the lock that thread 1 has held"),
        "{message}"
    );
    assert!(message.contains("cause what the property says") && !message.contains("too long"), "{message}");
}

#[test]
#[ignore = "meant to fail"]
fn waits_in_an_if() {
    check("", "waits_in_an_if", PROMISE, properties::waits_in_an_if);
}

#[test]
fn a_wait_that_ends_by_itself_is_part_of_the_model() {
    assert!(message("waits_in_an_if").contains("A wake-up is only a hint"));
    let failure = written("waits_in_an_if");
    let is_spurious = |event: &Event| matches!(event.action, Action::Wake { spurious: true, .. });
    assert!(failure.schedule.events.iter().any(is_spurious) && failure.found > SOON, "{failure:?}");
}

#[test]
#[ignore = "meant to fail"]
fn misses_the_notification() {
    check("", "misses_the_notification", PROMISE, properties::misses_the_notification);
}

#[test]
fn a_lost_wake_up_is_shown_with_the_notification_before_the_wait() {
    assert!(message("misses_the_notification").contains("the wake-up is lost"));
    let schedule = written("misses_the_notification").schedule;
    let notify = schedule.decisive.unwrap();
    assert!(matches!(schedule.events[notify].action, Action::Notify { all: true, .. }));
    let wait = schedule.events.iter().rposition(|event| matches!(event.action, Action::Wait { .. })).unwrap();
    assert!(matches!(&schedule.events[notify].action, Action::Notify { woken, .. } if woken.is_empty()));
    assert!(notify < wait, "{schedule:?}");
}
