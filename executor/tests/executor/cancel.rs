//! Tests of tokens: the tree of tokens, the callbacks, and the current token of a thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use executor::{CancelToken, Cancelled, Latch, Registration};

use crate::support::{Explosions, LONG, SHORT, Signal, blocked, on_thread, rounds, tracked, within_deadline};

/// A record of the names of the callbacks, in the order of their calls.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn writes(&self, entry: &'static str) -> impl FnOnce() + Send + 'static {
        let log = self.clone();
        move || log.0.lock().unwrap().push(entry)
    }

    fn entries(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

// ----- the tree -----

#[test]
fn a_request_is_made_once_and_stays() {
    let token = CancelToken::new();
    assert_eq!((token.is_cancelled(), token.check()), (false, Ok(())));
    assert!(token.cancel());
    assert!(!token.cancel(), "the second one changes nothing");
    assert_eq!((token.is_cancelled(), token.check()), (true, Err(Cancelled)));
    assert!(token.clone().is_cancelled(), "clones are the same token");
}

#[test]
fn a_child_is_cancelled_with_its_parent_and_not_the_other_way_round() {
    let parent = CancelToken::new();
    let (child, sibling) = (parent.child(), parent.child());
    let grandchild = child.child();

    assert!(child.cancel());
    assert!(grandchild.is_cancelled());
    assert!(!sibling.is_cancelled() && !parent.is_cancelled());

    assert!(parent.cancel());
    assert!(sibling.is_cancelled());
    assert!(!sibling.cancel(), "that has been done already");
}

#[test]
fn a_child_of_a_cancelled_token_is_born_cancelled() {
    let parent = CancelToken::new();
    parent.cancel();
    assert!(parent.child().is_cancelled());
    assert!(parent.child().child().is_cancelled());
}

#[test]
fn a_grandchild_is_reached_even_if_nobody_keeps_the_token_between() {
    let parent = CancelToken::new();
    let grandchild = parent.child().child();
    parent.cancel();
    assert!(grandchild.is_cancelled());
}

#[test]
fn of_many_who_cancel_at_once_one_is_first_and_callbacks_run_once() {
    within_deadline(|| {
        for _ in rounds(100) {
            let (token, calls) = (CancelToken::new(), Arc::new(AtomicUsize::new(0)));
            let _registration = token.on_cancel({
                let calls = Arc::clone(&calls);
                move || _ = calls.fetch_add(1, Ordering::Relaxed)
            });
            let first = thread::scope(|scope| {
                let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| token.cancel())).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).filter(|&first| first).count()
            });
            assert_eq!((first, calls.load(Ordering::Relaxed)), (1, 1));
        }
    });
}

#[test]
fn what_was_done_before_the_request_is_seen_by_who_sees_the_request() {
    within_deadline(|| {
        for _ in rounds(200) {
            let (token, data) = (CancelToken::new().child(), Arc::new(AtomicBool::new(false)));
            let looks = Signal::new();
            let reader = on_thread({
                let (token, data, looks) = (token.clone(), Arc::clone(&data), looks.clone());
                move || {
                    while !token.is_cancelled() {
                        looks.set();
                        thread::yield_now();
                    }
                    data.load(Ordering::Relaxed)
                }
            });
            looks.wait();
            data.store(true, Ordering::Relaxed);
            token.cancel();
            assert!(reader.result());
        }
    });
}

// ----- callbacks -----

#[test]
fn callbacks_run_in_the_order_of_registration_and_those_of_children_after() {
    let (token, log) = (CancelToken::new(), Log::default());
    let _first = token.on_cancel(log.writes("first"));
    let child = token.child();
    let _second = child.on_cancel(log.writes("child's"));
    let _third = token.on_cancel(log.writes("third"));
    token.cancel();
    assert_eq!(log.entries(), ["first", "third", "child's"]);
}

#[test]
fn callbacks_run_on_the_thread_that_cancels_before_the_call_returns() {
    within_deadline(|| {
        let (token, ran_on) = (CancelToken::new(), Arc::new(Mutex::new(None)));
        let _registration = token.on_cancel({
            let ran_on = Arc::clone(&ran_on);
            move || *ran_on.lock().unwrap() = Some(thread::current().id())
        });
        let seen_by_canceller = on_thread(move || {
            token.cancel();
            (*ran_on.lock().unwrap(), thread::current().id())
        });
        let (ran_on, canceller) = seen_by_canceller.result();
        assert_eq!(ran_on, Some(canceller));
    });
}

#[test]
fn a_callback_on_a_cancelled_token_runs_at_once() {
    let (token, log) = (CancelToken::new(), Log::default());
    token.cancel();
    let registration = token.on_cancel(log.writes("at once"));
    assert_eq!(log.entries(), ["at once"]);
    drop(registration);
    assert_eq!(log.entries(), ["at once"]);
}

#[test]
fn a_callback_that_was_taken_back_does_not_run() {
    let (token, log) = (CancelToken::new(), Log::default());
    drop(token.on_cancel(log.writes("taken back")));
    let _kept = token.on_cancel(log.writes("kept"));
    token.cancel();
    assert_eq!(log.entries(), ["kept"]);
}

#[test]
fn a_callback_may_take_back_a_later_one() {
    let (token, log) = (CancelToken::new(), Log::default());
    let later = Arc::new(Mutex::new(None::<Registration>));
    let _first = token.on_cancel({
        let later = Arc::clone(&later);
        move || drop(later.lock().unwrap().take())
    });
    *later.lock().unwrap() = Some(token.on_cancel(log.writes("later")));
    token.cancel();
    assert!(log.entries().is_empty());
}

#[test]
fn taking_back_a_callback_waits_while_it_runs() {
    within_deadline(|| {
        let (token, started, release) = (CancelToken::new(), Signal::new(), Signal::new());
        let ended = Arc::new(AtomicBool::new(false));
        let registration = token.on_cancel({
            let (started, release, ended) = (started.clone(), release.clone(), Arc::clone(&ended));
            move || {
                started.set();
                release.wait();
                ended.store(true, Ordering::Relaxed);
            }
        });
        let canceller = on_thread(move || token.cancel());
        started.wait();
        let dropper = blocked(move || {
            drop(registration);
            ended.load(Ordering::Relaxed)
        });
        assert!(dropper.still_waits());
        release.set();
        assert!(dropper.result(), "afterwards the callback has ended");
        assert!(canceller.result());
    });
}

#[test]
fn a_callback_may_drop_its_own_registration() {
    within_deadline(|| {
        let (token, own) = (CancelToken::new(), Arc::new(Mutex::new(None::<Registration>)));
        let dropped = Arc::new(AtomicBool::new(false));
        let registration = token.on_cancel({
            let (own, dropped) = (Arc::clone(&own), Arc::clone(&dropped));
            move || {
                let registration = own.lock().unwrap().take();
                dropped.store(registration.is_some(), Ordering::Relaxed);
            }
        });
        *own.lock().unwrap() = Some(registration);
        assert!(token.cancel());
        assert!(dropped.load(Ordering::Relaxed));
    });
}

#[test]
fn a_callback_may_use_its_token() {
    within_deadline(|| {
        let (token, log) = (CancelToken::new(), Log::default());
        let own = token.clone();
        let inner = log.writes("inner");
        let _registration = token.on_cancel(move || {
            assert!(own.is_cancelled() && own.child().is_cancelled());
            assert!(!own.cancel());
            drop(own.on_cancel(inner));
        });
        token.cancel();
        assert_eq!(log.entries(), ["inner"]);
    });
}

#[test]
fn a_registration_that_races_with_the_request_runs_its_callback_exactly_once() {
    within_deadline(|| {
        for _ in rounds(300) {
            let (token, calls) = (CancelToken::new(), Arc::new(AtomicUsize::new(0)));
            let canceller = on_thread({
                let token = token.clone();
                move || token.cancel()
            });
            let registrations: Vec<_> = (0..5)
                .map(|_| {
                    let calls = Arc::clone(&calls);
                    token.on_cancel(move || _ = calls.fetch_add(1, Ordering::Relaxed))
                })
                .collect();
            assert!(canceller.result());
            assert_eq!(calls.load(Ordering::Relaxed), 5);
            drop(registrations);
        }
    });
}

#[test]
fn in_a_callback_all_tokens_below_are_cancelled_already() {
    let (token, seen) = (CancelToken::new(), Arc::new(Mutex::new(Vec::new())));
    let child = token.child();
    let grandchild = child.child();
    let _registration = token.on_cancel({
        let (below, seen) = ([child, grandchild], Arc::clone(&seen));
        move || seen.lock().unwrap().extend(below.map(|token| token.is_cancelled()))
    });
    token.cancel();
    assert_eq!(*seen.lock().unwrap(), [true, true]);
}

#[test]
fn a_callback_may_wait_for_a_thread_that_sleeps_under_the_token_or_one_below() {
    within_deadline(|| {
        for below in [false, true] {
            let token = CancelToken::new();
            let (tell, told) = mpsc::channel();
            let _registration = token.on_cancel(move || told.recv_timeout(LONG).unwrap());
            let sleeps_under = if below { token.child().child() } else { token.clone() };
            let sleeper = blocked(move || {
                let slept = sleeps_under.sleep(Duration::MAX);
                tell.send(()).unwrap();
                slept
            });
            assert!(token.cancel());
            assert_eq!(sleeper.result(), Err(Cancelled));
        }
    });
}

#[test]
fn a_cancel_that_comes_second_says_no_and_leaves_nothing_below_unmarked() {
    within_deadline(|| {
        let (token, running, release) = (CancelToken::new(), Signal::new(), Signal::new());
        let below = token.child().child();
        let _registration = token.on_cancel({
            let (token, below) = (token.clone(), below.clone());
            let (running, release) = (running.clone(), release.clone());
            move || {
                assert!(!token.cancel() && below.is_cancelled(), "from inside the callback");
                running.set();
                release.wait();
            }
        });
        let canceller = on_thread({
            let token = token.clone();
            move || token.cancel()
        });
        running.wait();
        assert!(!token.cancel());
        assert!(!below.cancel() && below.is_cancelled());
        release.set();
        assert!(canceller.result());
    });
}

#[test]
fn a_callback_may_cancel_a_sibling_and_the_parent_and_each_callback_runs_once() {
    within_deadline(|| {
        let (parent, log) = (CancelToken::new(), Log::default());
        let (child, sibling) = (parent.child(), parent.child());
        let _parents = parent.on_cancel(log.writes("parent's"));
        let _siblings = sibling.on_cancel(log.writes("sibling's"));
        let _childs = child.on_cancel({
            let writes = log.writes("child's");
            move || {
                assert!(sibling.cancel(), "no cancel came before");
                assert!(parent.cancel());
                writes();
            }
        });
        let _childs_second = child.on_cancel(log.writes("child's second"));
        assert!(child.cancel());
        assert_eq!(log.entries(), ["sibling's", "parent's", "child's", "child's second"]);
    });
}

#[test]
fn a_callback_that_panics_keeps_none_of_the_others_from_running() {
    let (token, log) = (CancelToken::new(), Log::default());
    let child = token.child();
    let _first = token.on_cancel(|| panic!("the first callback"));
    let _second = token.on_cancel(log.writes("second"));
    let _childs_first = child.on_cancel(|| panic!("the child's first callback"));
    let _childs_second = child.on_cancel(log.writes("child's second"));
    assert!(token.cancel());
    assert_eq!(log.entries(), ["second", "child's second"]);
}

#[test]
fn a_callback_registered_and_a_child_made_while_callbacks_run_are_not_forgotten() {
    let (token, log) = (CancelToken::new(), Log::default());
    let child = token.child();
    let born = Arc::new(Mutex::new(None));
    let _first = token.on_cancel({
        let (child, born, late) = (child.clone(), Arc::clone(&born), log.writes("registered meanwhile"));
        move || {
            drop(child.on_cancel(late));
            *born.lock().unwrap() = Some(child.child());
        }
    });
    let _childs = child.on_cancel(log.writes("child's"));
    token.cancel();
    assert_eq!(log.entries(), ["registered meanwhile", "child's"]);
    assert!(born.lock().unwrap().as_ref().unwrap().is_cancelled());
}

#[test]
fn a_callback_that_is_kept_runs_without_its_registration() {
    let (token, log) = (CancelToken::new(), Log::default());
    token.on_cancel(log.writes("kept")).keep();
    token.on_cancel(log.writes("kept, too")).keep();
    assert!(log.entries().is_empty());
    token.cancel();
    assert_eq!(log.entries(), ["kept", "kept, too"]);
    token.on_cancel(log.writes("at once")).keep();
    assert_eq!(log.entries().len(), 3);
}

#[test]
fn a_callback_that_is_kept_goes_with_the_last_of_its_token() {
    let (captured, is_captured) = tracked();
    let token = CancelToken::new();
    let child = token.child();
    token.on_cancel(move || drop(captured)).keep();
    drop(token);
    assert!(is_captured(), "the child keeps its parent");
    drop(child);
    assert!(!is_captured());

    let bombs = Explosions::default();
    let bomb = bombs.bomb();
    let token = CancelToken::new();
    token.on_cancel(move || drop(bomb)).keep();
    drop(token); // a panic in that drop goes no further
    assert_eq!(bombs.count(), 1);
}

// ----- the current token -----

#[test]
fn on_a_thread_without_a_task_the_current_token_is_nobody_elses() {
    let token = CancelToken::current();
    token.cancel();
    assert!(!CancelToken::current().is_cancelled());
}

#[test]
fn an_attached_token_is_current_inside_and_only_there() {
    let (outer, inner) = (CancelToken::new(), CancelToken::new());
    outer.attach(|| {
        inner.attach(|| {
            inner.cancel();
            assert!(CancelToken::current().is_cancelled());
        });
        assert!(!CancelToken::current().is_cancelled());
        outer.cancel();
        assert!(CancelToken::current().is_cancelled());
    });
    assert!(!CancelToken::current().is_cancelled());
}

#[test]
fn a_panic_detaches_the_token() {
    let token = CancelToken::new();
    token.cancel();
    let panic = catch_unwind(AssertUnwindSafe(|| token.attach(|| panic!("inside"))));
    assert!(panic.is_err());
    assert!(!CancelToken::current().is_cancelled());
    assert!(Latch::new(0).wait().is_ok());
}

#[test]
fn a_token_can_be_carried_to_a_thread_of_ones_own() {
    within_deadline(|| {
        let token = CancelToken::new();
        let carried = token.clone();
        let waiter = blocked(move || carried.attach(|| Latch::new(1).wait()));
        token.cancel();
        assert_eq!(waiter.result(), Err(Cancelled));
    });
}

// ----- sleeping -----

#[test]
fn a_sleep_is_not_shorter_than_it_should_be() {
    let start = Instant::now();
    assert!(CancelToken::new().sleep(SHORT).is_ok());
    assert!(start.elapsed() >= SHORT);
    assert!(CancelToken::new().sleep(Duration::ZERO).is_ok());
}

#[test]
fn a_sleep_is_cut_short_by_its_own_token_and_by_the_current_one() {
    within_deadline(|| {
        for own in [true, false] {
            let (token, current) = (CancelToken::new(), CancelToken::new());
            let sleeper = blocked({
                let (token, current) = (token.clone(), current.clone());
                move || current.attach(|| token.sleep(Duration::MAX))
            });
            assert!(if own { token.cancel() } else { current.cancel() });
            assert_eq!(sleeper.result(), Err(Cancelled));
        }
    });
}

#[test]
fn a_sleep_is_not_begun_when_the_request_is_there() {
    within_deadline(|| {
        let (live, cancelled) = (CancelToken::new(), CancelToken::new());
        cancelled.cancel();
        assert_eq!(cancelled.sleep(Duration::MAX), Err(Cancelled));
        assert_eq!(cancelled.attach(|| live.sleep(Duration::MAX)), Err(Cancelled));
    });
}

#[test]
fn the_printed_form_says_whether_it_is_cancelled() {
    let token = CancelToken::new();
    assert_eq!(format!("{token:?}"), "CancelToken { cancelled: false }");
    token.cancel();
    assert_eq!(format!("{token:?}"), "CancelToken { cancelled: true }");
}

/// Each task makes a child of the previous task's token. A long chain of tokens must not overflow the stack.
#[test]
fn a_chain_of_a_hundred_thousand_children_is_cancelled_and_dropped() {
    let top = CancelToken::new();
    let bottom = (0..100_000).fold(top.child(), |token, _| token.child());
    top.cancel();
    assert!(bottom.is_cancelled());
    drop(top);
    drop(bottom);
    drop((0..100_000).fold(CancelToken::new(), |token, _| token.child()));
}
