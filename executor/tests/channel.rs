//! Tests channels on real threads, over crossbeam-channel. The file `executor/model/tests/pools/channel.rs`
//! tests cancellations that race with a send or a receive.

// These tests need only a part of the support modules.
#[path = "executor/support.rs"]
#[expect(dead_code, unused_imports, unused_macros, reason = "the other tests use it")]
mod support;

mod door {
    pub(crate) use std::{sync, thread, time};
}
#[path = "../model/tests/program/protocol.rs"]
mod protocol;

use std::error::Error;
use std::thread;
use std::time::Duration;

use executor::channel::{
    CancelChannel, PutError, Receiver, ReceiverExt, Sender, SenderExt, TakeError, bounded,
};
use executor::{CancelToken, Latch, Promise, ThreadPoolExecutor, masked, prelude::*};
use support::{LONG, SHORT, Spot, rounds, within_deadline};

/// Makes a token current on a new thread, and runs `wait` there. When the thread is blocked, the function
/// cancels the token and returns the result of `wait`.
fn cancelled_while_blocked<T: Send + 'static>(wait: impl FnOnce() -> T + Send + 'static) -> T {
    cancelled_after(|| (), wait)
}

/// Runs `wait` as [`cancelled_while_blocked`] does, but calls `first` before it cancels the token of the
/// blocked thread.
fn cancelled_after<T: Send + 'static>(first: impl FnOnce(), wait: impl FnOnce() -> T + Send + 'static) -> T {
    let (token, spot) = (CancelToken::new(), Spot::default());
    let waiter = thread::spawn({
        let (token, spot) = (token.clone(), spot.clone());
        move || {
            token.attach(|| {
                spot.arrive();
                wait()
            })
        }
    });
    spot.wait_until_blocked();
    first();
    token.cancel();
    waiter.join().unwrap()
}

#[test]
fn a_blocked_put_comes_back_with_its_item() {
    within_deadline(|| {
        for capacity in [0, 1] {
            let (sender, receiver) = bounded(capacity);
            (0..capacity).for_each(|_| sender.put("first".to_owned()).unwrap());
            let late = sender.clone();
            let put = cancelled_while_blocked(move || late.put("second".to_owned()));
            assert_eq!(put, Err(PutError::Interrupted("second".to_owned())));
            let late = sender.clone();
            let put = cancelled_while_blocked(move || late.put_timeout("third".to_owned(), 2 * LONG));
            assert_eq!(put, Err(PutError::Interrupted("third".to_owned())));
            drop(sender);
            assert_eq!(receiver.take_iter().count(), capacity);
        }
    });
}

#[test]
fn a_blocked_take_comes_back_and_has_taken_nothing() {
    within_deadline(|| {
        for capacity in [0, 1] {
            let (sender, receiver) = bounded(capacity);
            let late = receiver.clone();
            assert_eq!(cancelled_while_blocked(move || late.take()), Err(TakeError::Interrupted));
            let late = receiver.clone();
            let taken = cancelled_while_blocked(move || late.take_timeout(2 * LONG));
            assert_eq!(taken, Err(TakeError::Interrupted));
            let late = receiver.clone();
            assert_eq!(cancelled_while_blocked(move || late.take_iter().count()), 0);
            let producer = thread::spawn(move || sender.put(7));
            assert_eq!(receiver.take(), Ok(7));
            producer.join().unwrap().unwrap();
        }
    });
}

/// The item wakes the thread, and the cancellation also wakes the thread; either of the two ends the wait.
#[test]
fn what_the_wait_is_for_beats_a_cancel_that_comes_after_it() {
    within_deadline(|| {
        for limit in [None, Some(2 * LONG)] {
            let (sender, receiver) = bounded(1);
            let take = move |receiver: Receiver<_>| match limit {
                None => receiver.take().ok(),
                Some(limit) => receiver.take_timeout(limit).ok(),
            };
            let late = receiver.clone();
            assert_eq!(cancelled_after(|| sender.try_send(1).unwrap(), move || take(late)), Some(1));

            sender.put(2).unwrap();
            let put = move |sender: Sender<_>| match limit {
                None => sender.put(3).is_ok(),
                Some(limit) => sender.put_timeout(3, limit).is_ok(),
            };
            let make_room = || assert_eq!(receiver.try_recv(), Ok(2));
            assert!(cancelled_after(make_room, move || put(sender)));
            assert_eq!(receiver.try_recv(), Ok(3));
        }
    });
}

/// A task that was asked to stop begins no wait on a channel, not even a short wait. Such a task also begins
/// no wait for a latch or a semaphore.
#[test]
fn a_cancelled_task_neither_puts_nor_takes() {
    let (sender, receiver) = bounded(2);
    sender.put(1).unwrap();
    let token = CancelToken::new();
    token.cancel();
    token.attach(|| {
        assert_eq!(sender.put(2), Err(PutError::Interrupted(2)));
        assert_eq!(receiver.take(), Err(TakeError::Interrupted));
        assert_eq!(receiver.take_iter().next(), None);
        // `try_send` and `try_recv` do not wait.
        assert_eq!((sender.try_send(2), receiver.try_recv()), (Ok(()), Ok(1)));
        assert_eq!(masked(|| receiver.take()), Ok(2));
    });
}

#[test]
fn a_masked_wait_is_not_cut_off() {
    within_deadline(|| {
        let (sender, receiver) = bounded(0);
        let (token, spot) = (CancelToken::new(), Spot::default());
        let producer = thread::spawn({
            let (token, spot) = (token.clone(), spot.clone());
            move || {
                token.attach(|| {
                    spot.arrive();
                    masked(|| sender.put("the last words"))
                })
            }
        });
        spot.wait_until_blocked();
        token.cancel();
        assert_eq!(receiver.take(), Ok("the last words"));
        assert_eq!(producer.join().unwrap(), Ok(()));
    });
}

#[test]
fn time_limits_end_a_wait_also_far_away_ones() {
    within_deadline(|| {
        for capacity in [0, 1] {
            let (sender, receiver) = bounded(capacity);
            (0..capacity).for_each(|_| sender.put(1).unwrap());
            assert_eq!(sender.put_timeout(2, SHORT), Err(PutError::TimedOut(2)));
            assert_eq!(sender.put_timeout(2, Duration::ZERO), Err(PutError::TimedOut(2)));
            (0..capacity).for_each(|_| assert_eq!(receiver.take_timeout(Duration::ZERO), Ok(1)));
            assert_eq!(receiver.take_timeout(SHORT), Err(TakeError::TimedOut));
            let producer = thread::spawn(move || sender.put_timeout(3, Duration::MAX));
            assert_eq!(receiver.take_timeout(Duration::MAX), Ok(3));
            assert_eq!(producer.join().unwrap(), Ok(()));
        }
    });
}

#[test]
fn a_channel_is_closed_by_dropping_the_last_end() {
    let (sender, receiver) = bounded(3);
    let other = sender.clone();
    sender.put(1).unwrap();
    other.put(2).unwrap();
    drop(sender);
    drop(other);
    assert_eq!(receiver.len(), 2);
    assert_eq!((receiver.take(), receiver.take_timeout(LONG)), (Ok(1), Ok(2)), "both items are there");
    assert_eq!(receiver.take(), Err(TakeError::Disconnected));
    assert_eq!(receiver.take_timeout(LONG), Err(TakeError::Disconnected));

    let (sender, receiver) = bounded(1);
    drop(receiver.clone());
    sender.put(1).unwrap();
    drop(receiver);
    assert_eq!(sender.put(2), Err(PutError::Disconnected(2)));
    assert_eq!(sender.put_timeout(2, LONG), Err(PutError::Disconnected(2)));
}

#[test]
fn an_end_that_goes_wakes_who_is_blocked() {
    within_deadline(|| {
        let (sender, receiver) = bounded::<u32>(1);
        let spot = Spot::default();
        let taker = thread::spawn({
            let spot = spot.clone();
            move || {
                spot.arrive();
                receiver.take()
            }
        });
        spot.wait_until_blocked();
        drop(sender);
        assert_eq!(taker.join().unwrap(), Err(TakeError::Disconnected));
    });
}

#[test]
fn items_are_taken_in_order_and_counted() {
    let (sender, receiver) = bounded(3);
    assert!(sender.is_empty() && receiver.is_empty());
    for number in 0..3 {
        sender.put(number).unwrap();
    }
    assert_eq!((sender.len(), receiver.len()), (3, 3));
    drop(sender);
    assert_eq!(receiver.take_iter().next(), Some(0));
    assert_eq!(receiver.take_iter().collect::<Vec<_>>(), [1, 2]);
}

/// A callback of a token may wait for a thread that is released by the cancellation of the same token.
#[test]
fn a_waiting_thread_is_released_before_callbacks_run() {
    within_deadline(|| {
        let (_sender, receiver) = bounded::<()>(1);
        let (token, spot) = (CancelToken::new(), Spot::default());
        let released = std::sync::Arc::new(Latch::new(1));
        let registration = token.on_cancel({
            let released = std::sync::Arc::clone(&released);
            move || released.wait_timeout(LONG).unwrap()
        });
        let taker = thread::spawn({
            let (token, spot) = (token.clone(), spot.clone());
            move || {
                token.attach(|| {
                    spot.arrive();
                    let result = receiver.take();
                    released.count_down();
                    result
                })
            }
        });
        spot.wait_until_blocked();
        token.cancel();
        assert_eq!(taker.join().unwrap(), Err(TakeError::Interrupted));
        drop(registration);
    });
}

/// If callbacks are nested too deeply, the library defers the next callback. In this test, a deferred
/// callback sends the item that the thread waits for.
#[test]
fn a_wait_deep_in_callbacks_has_those_run_that_were_put_off() {
    fn level(n: usize) {
        if n == 40 {
            return;
        }
        let (start, started) = Promise::new();
        let (sender, receiver) = bounded(1);
        started.on_done(move |_| {
            sender.put(n).unwrap();
            level(n + 1);
        });
        start.complete(()).unwrap();
        assert_eq!(receiver.take(), Ok(n));
    }

    within_deadline(|| level(0));
}

#[test]
fn a_token_is_a_channel_for_select() {
    within_deadline(|| {
        let (token, spot) = (CancelToken::new(), Spot::default());
        let (sender, receiver) = bounded::<u32>(1);
        let selecting = thread::spawn({
            let (stop, spot) = (token.child().channel(), spot.clone());
            move || {
                let mut sum = 0;
                loop {
                    crossbeam_channel::select! {
                        recv(receiver) -> number => {
                            sum += number.unwrap();
                            spot.arrive();
                        }
                        recv(stop) -> nothing => {
                            assert!(nothing.is_err(), "nothing is ever sent");
                            return sum;
                        }
                    }
                }
            }
        });
        sender.put(7).unwrap();
        spot.wait_until_blocked();
        token.cancel();
        assert_eq!(selecting.join().unwrap(), 7);
        let too_late = token.channel();
        assert!(too_late.recv().is_err(), "it is ready from the beginning");
    });
}

#[test]
fn a_dropped_channel_leaves_nothing_with_its_token() {
    let token = CancelToken::new();
    let (kept, dropped) = (token.channel(), token.channel());
    let other_end = Receiver::clone(&dropped);
    drop(dropped);
    assert!(other_end.recv().is_err(), "the token has dropped the other end");
    assert!(kept.try_recv().is_err_and(|error| error.is_empty()));
    token.cancel();
    assert!(kept.try_recv().is_err_and(|error| error.is_disconnected()));
}

/// Threads can also wait for channels that `bounded` does not make.
#[test]
fn any_channel_of_crossbeam_can_be_waited_for() {
    within_deadline(|| {
        let (sender, receiver) = crossbeam_channel::unbounded();
        (0..1000).for_each(|number| sender.put(number).unwrap());
        assert_eq!(receiver.take_iter().take(1000).sum::<i32>(), 499_500);
        let never = crossbeam_channel::never::<()>();
        assert_eq!(cancelled_while_blocked(move || never.take()), Err(TakeError::Interrupted));
    });
}

/// No matter when the producers are cancelled, each number is received once, or is still in the channel, or
/// comes back to its producer.
#[test]
fn producers_cancelled_at_any_moment_lose_nothing() {
    within_deadline(|| {
        for _ in rounds(2_000) {
            let (sender, receiver) = bounded(1);
            let pool = ThreadPoolExecutor::fixed(2);
            let producers = [0, 1].map(|_| {
                let sender = sender.clone();
                let token = CancelToken::new();
                let own = token.clone();
                // The producer has its own token, because a cancelled task has no result.
                let task = move || own.attach(|| (0..).map_while(|n| sender.put(n).ok()).count());
                (pool.submit(task).unwrap(), token)
            });
            drop(sender);
            let consumer = thread::spawn(move || receiver.take_iter().count());
            let put = producers.map(|(producer, token)| {
                token.cancel();
                producer.join().unwrap()
            });
            assert_eq!(consumer.join().unwrap(), put.iter().sum());
            pool.close();
        }
    });
}

#[test]
fn ends_can_be_sent_and_shared() {
    type OnlySend = std::cell::Cell<i32>;
    fn shareable<T: Send + Sync>() {}
    shareable::<Sender<OnlySend>>();
    shareable::<Receiver<OnlySend>>();
    shareable::<CancelChannel>();
}

#[test]
fn errors_say_what_happened_and_turn_into_others() {
    fn printed<E: Error + Send + Sync + 'static>(error: E) -> String {
        format!("{error:?}: {error}")
    }
    assert_eq!(printed(PutError::Disconnected(1)), "Disconnected(..): the channel has no receiver any more");
    assert_eq!(printed(PutError::TimedOut(1)), "TimedOut(..): there was no room in the channel in time");
    assert_eq!(
        printed(TakeError::Interrupted),
        "Interrupted: the task was cancelled while it waited for an item"
    );
    assert_eq!(printed(TakeError::TimedOut), "TimedOut: no item came in time");
    assert_eq!(PutError::Interrupted("item").into_inner(), "item");
}

/// A test of the model compiles the file of the protocol against shuttle. This test compiles the same file
/// against std.
#[test]
fn a_protocol_of_a_program_is_compiled_for_real_threads_and_for_a_model() {
    let writer = <protocol::Writer>::new(1);
    for line in ["one", "two"] {
        writer.put(line).unwrap();
    }
    writer.flush(2);
    assert_eq!(writer.flush_timeout(3, Duration::ZERO).0, 2);
    assert_eq!(writer.close(), ["one", "two"]);
}
