//! Tests of poison pills: each faulty variant shows its fault, and the queue of the library ends in every
//! case.

use crawler::pills::faults::{Seen, dead, endless, overtaking, right, single};
use crawler::pills::{PutError, queue};
use executor::CancelToken;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(30);

#[test]
fn each_variant_shows_its_fault() {
    let variants: [fn() -> Seen; 5] = [endless, single, overtaking, dead, right];
    let threads = variants.map(thread::spawn); // each waits for its watchdog
    let [endless, single, overtaking, dead, right] =
        threads.map(|thread| thread.join().expect("none panics"));
    // The consumer took one of the pills, and ten other pills fill the queue.
    assert_eq!(endless, Seen { put: 3, indexed: 3, pills: 11, stuck: vec!["the producer"] });
    assert_eq!(single, Seen { put: 3, indexed: 3, pills: 1, stuck: vec!["a consumer"; 2] });
    assert_eq!(overtaking, Seen { put: 6, indexed: 3, pills: 2, stuck: vec![] });
    assert_eq!((dead.indexed, dead.pills, dead.stuck), (0, 0, vec!["the producer"]));
    assert_eq!(right, Seen { put: 6, indexed: 6, pills: 3, stuck: vec![] });
}

/// Runs `work` on a thread, and panics if `work` takes too long.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, result) = channel();
    thread::spawn(move || sender.send(work()));
    result.recv_timeout(LONG).expect("it comes to its end")
}

#[test]
fn items_come_in_order_and_then_nothing() {
    let taken = in_time(|| {
        let (producer, mut consumers) = queue(100, 1);
        (0..10).for_each(|item| producer.put(item).expect("there is room"));
        drop(producer);
        let taken: Vec<_> = std::iter::from_fn(|| consumers[0].take().expect("not cancelled")).collect();
        assert_eq!(consumers[0].take(), Ok(None), "once it has ended, it stays so");
        taken
    });
    assert_eq!(taken, (0..10).collect::<Vec<_>>());
}

#[test]
fn a_producer_that_panics_ends_too() {
    let taken = in_time(|| {
        let (producer, mut consumers) = queue(100, 2);
        let clone = producer.clone();
        let _ = catch_unwind(AssertUnwindSafe(move || {
            let _producer = clone;
            panic!("panics on purpose");
        }));
        producer.put(1).expect("there is room");
        drop(producer);
        consumers.iter_mut().map(|consumer| consumer.take().expect("not cancelled")).collect::<Vec<_>>()
    });
    assert_eq!(taken, [Some(1), None]);
}

#[test]
fn a_producer_without_consumers_is_let_go() {
    in_time(|| {
        let (producer, consumers) = queue(1, 3);
        producer.put(1).expect("there is room");
        drop(consumers);
        assert_eq!(producer.put(2), Err(PutError::Disconnected(2)));
    }); // dropping the producer puts no pill, and does not wait
}

/// Checks that a producer that is told to stop still puts the pills for its consumers.
#[test]
fn a_producer_that_is_told_to_stop_leaves_its_pills() {
    let taken = in_time(|| {
        let (producer, mut consumers) = queue(2, 2);
        producer.put(1).expect("there is room");
        let token = CancelToken::new();
        token.cancel();
        let ended = token.attach(|| producer.put(2));
        assert_eq!(ended, Err(PutError::Interrupted(2)));
        let (second, mut first) = (consumers.pop().expect("two"), consumers.pop().expect("two"));
        let takes = thread::spawn(move || {
            let mut second = second;
            std::iter::from_fn(|| second.take().expect("not cancelled")).count()
        });
        token.attach(|| drop(producer)); // there is room for only one pill, so the drop waits for room
        std::iter::from_fn(|| first.take().expect("not cancelled")).count() + takes.join().expect("it ends")
    });
    assert_eq!(taken, 1);
}

#[test]
fn a_consumer_that_is_told_to_stop_has_taken_nothing() {
    let (producer, mut consumers) = queue(2, 1);
    producer.put(1).expect("there is room");
    let token = CancelToken::new();
    token.cancel();
    assert!(token.attach(|| consumers[0].take()).is_err());
    assert_eq!(consumers[0].take(), Ok(Some(1)));
}
