//! A thread that is blocked on a channel is cancelled at the moment when an item arrives, or when room for an
//! item becomes free. No item is lost, and no thread hangs: shuttle would report a hanging thread as a
//! deadlock.

use std::sync::Arc;
use std::time::Duration;

use executor_model::channel::{PutError, Receiver, ReceiverExt, SenderExt, TakeError, TrySendError, bounded};
use executor_model::{CancelToken, JoinError, ThreadPoolExecutor, masked, prelude::*};
use shuttle::sync::Mutex;

use crate::{check, thread};

/// Returns the items that are left in a channel without senders.
fn rest<T>(receiver: &Receiver<T>) -> Vec<T> {
    std::iter::from_fn(|| receiver.try_recv().ok()).collect()
}

#[test]
fn an_item_put_at_the_moment_of_a_cancel_is_taken_or_given_back() {
    for capacity in [0, 1, 2] {
        check(move || {
            let (sender, receiver) = bounded(capacity);
            let token = CancelToken::new();
            let producer = thread::spawn({
                let token = token.clone();
                move || {
                    token.attach(|| {
                        for number in 0..4 {
                            match sender.put(number) {
                                Ok(()) => {}
                                Err(PutError::Interrupted(back)) => return (number, Some(back)),
                                Err(other) => panic!("{other}"),
                            }
                        }
                        (4, None)
                    })
                }
            });
            let canceller = thread::spawn(move || token.cancel());
            let mut got: Vec<_> = receiver.take_iter().take(2).collect();
            canceller.join().unwrap();
            let (put, back) = producer.join().unwrap();
            got.extend(rest(&receiver));
            assert_eq!(got, (0..put).collect::<Vec<_>>(), "each that was put, in order");
            assert_eq!(back.unwrap_or(put), put, "the number that was not put");
        });
    }
}

#[test]
fn an_item_is_taken_or_stays_when_the_taker_is_cancelled() {
    for capacity in [0, 1] {
        check(move || {
            let (sender, receiver) = bounded(capacity);
            let token = CancelToken::new();
            let taker = thread::spawn({
                let (token, receiver) = (token.clone(), receiver.clone());
                move || token.attach(|| receiver.take())
            });
            let producer = thread::spawn(move || sender.try_send(7));
            token.cancel();
            let put = producer.join().unwrap();
            let got = taker.join().unwrap();
            let left = rest(&receiver);
            match (put, got) {
                (Ok(()), Ok(7)) => assert!(left.is_empty()),
                (Ok(()), Err(TakeError::Interrupted)) => assert!(capacity == 1 && left == [7]),
                (Err(TrySendError::Full(7)), Err(_)) => assert!(capacity == 0 && left.is_empty()),
                (put, got) => panic!("{put:?}, {got:?}"),
            }
        });
    }
}

/// The cancellation of a token wakes the threads that already wait with this token; later waits with this
/// token do not begin.
#[test]
fn a_cancel_releases_all_that_are_blocked_and_no_others() {
    check(|| {
        let (sender, receiver) = bounded::<u32>(1);
        let token = CancelToken::new();
        let takers: [_; 2] = std::array::from_fn(|_| {
            let (token, receiver) = (token.clone(), receiver.clone());
            thread::spawn(move || token.attach(|| receiver.take()))
        });
        let stranger = thread::spawn({
            let receiver = receiver.clone();
            move || receiver.take()
        });
        token.cancel();
        for taker in takers {
            assert_eq!(taker.join().unwrap(), Err(TakeError::Interrupted));
        }
        sender.put(1).unwrap();
        assert_eq!(stranger.join().unwrap(), Ok(1));
    });
}

#[test]
fn a_time_limit_ends_each_wait_and_loses_nothing() {
    for capacity in [0, 1] {
        check(move || {
            let (sender, receiver) = bounded(capacity);
            let limit = Duration::from_secs(1);
            let producer = thread::spawn(move || {
                (0..2).map(|number| sender.put_timeout(number, limit)).collect::<Vec<_>>()
            });
            let taken = [(); 2].map(|()| receiver.take_timeout(limit));
            let put = producer.join().unwrap();
            let mut arrived: Vec<u32> = taken.iter().filter_map(|taken| taken.ok()).collect();
            arrived.extend(rest(&receiver));
            let mut accepted = Vec::new();
            for (number, put) in (0..2).zip(put) {
                match put {
                    Ok(()) => accepted.push(number),
                    Err(error) => {
                        assert!(matches!(error, PutError::TimedOut(_)), "{error}");
                        assert_eq!(error.into_inner(), number);
                    }
                }
            }
            assert_eq!(arrived, accepted);
        });
    }
}

#[test]
fn the_last_sender_ends_the_takers_and_the_last_receiver_the_putters() {
    check(|| {
        let (sender, receiver) = bounded(1);
        let takers: [_; 2] = std::array::from_fn(|_| {
            let receiver = receiver.clone();
            thread::spawn(move || receiver.take_iter().count())
        });
        drop(receiver);
        let producer = thread::spawn(move || (0..3).try_for_each(|n| sender.put(n)));
        assert_eq!(producer.join().unwrap(), Ok(()));
        assert_eq!(takers.map(|taker| taker.join().unwrap()).iter().sum::<usize>(), 3);

        let (sender, receiver) = bounded(1);
        let producer = thread::spawn(move || (0..).try_for_each(|n| sender.put(n)));
        assert_eq!(receiver.take(), Ok(0));
        drop(receiver);
        assert!(matches!(producer.join().unwrap(), Err(PutError::Disconnected(1 | 2))));
    });
}

/// The library itself wakes the blocked thread, so the wake-up does not depend on when a callback ends.
#[test]
fn a_callback_may_wait_for_a_thread_that_is_blocked_on_a_channel() {
    check(|| {
        let (_sender, receiver) = bounded::<()>(1);
        let token = CancelToken::new();
        let slot = Arc::new(Mutex::new(None::<thread::JoinHandle<_>>));
        let registration = token.on_cancel({
            let slot = Arc::clone(&slot);
            move || {
                let taker = slot.lock().unwrap().take().expect("it was started before");
                assert_eq!(taker.join().unwrap(), Err(TakeError::Interrupted));
            }
        });
        let taker = thread::spawn({
            let token = token.clone();
            move || token.attach(|| receiver.take())
        });
        *slot.lock().unwrap() = Some(taker);
        token.cancel();
        drop(registration);
        assert!(slot.lock().unwrap().is_none());
    });
}

#[test]
fn a_masked_put_obeys_nobody() {
    check(|| {
        let (sender, receiver) = bounded(1);
        let token = CancelToken::new();
        let producer = thread::spawn({
            let token = token.clone();
            move || token.attach(|| masked(|| (0..3).try_for_each(|n| sender.put(n))))
        });
        token.cancel();
        assert_eq!(receiver.take_iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(producer.join().unwrap(), Ok(()));
    });
}

/// In a pool, the token of a wait is the token of the task that waits.
#[test]
fn shutdown_now_brings_blocked_producers_back() {
    check(|| {
        let (sender, receiver) = bounded(1);
        let pool = ThreadPoolExecutor::fixed(2);
        let producers = [0, 1].map(|producer| {
            let sender = sender.clone();
            let put = move || (0..).map_while(|n| sender.put((producer, n)).ok()).count();
            pool.submit(put).unwrap()
        });
        drop(sender);
        let first = receiver.take().unwrap();
        drop(pool.shutdown_now());
        pool.close();
        let mut arrived = vec![first];
        arrived.extend(rest(&receiver));
        for (number, producer) in producers.into_iter().enumerate() {
            let own = arrived.iter().filter(|(producer, _)| *producer == number).count();
            match producer.join() {
                Ok(put) => assert_eq!(put, own),
                Err(JoinError::Cancelled(_)) => assert_eq!(own, 0, "it was never begun"),
                Err(other) => panic!("{other}"),
            }
        }
    });
}
