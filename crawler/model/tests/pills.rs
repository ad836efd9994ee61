//! Checks the pills under shuttle: with any number of producers and consumers, with consumers that die, and
//! with producers that are told to stop.

extern crate executor_model as executor;

use crawler_model::{check, door};
use door::sync::{Arc, Mutex};
use shuttle::thread;

#[path = "../../src/pills/mod.rs"]
#[allow(dead_code, unreachable_pub)] // it reads like a module of its library
mod pills;

use pills::{Consumer, Producer, PutError, queue};

/// The number of items that each producer puts into the queue. Each item contains the number of its producer.
const ITEMS: usize = 2;

type Taken = Arc<Mutex<Vec<(usize, usize)>>>;

fn produce(producer: Producer<(usize, usize)>, number: usize) -> thread::JoinHandle<usize> {
    thread::spawn(move || (0..ITEMS).take_while(|item| producer.put((number, *item)).is_ok()).count())
}

/// Takes items until the queue ends, or panics after some items.
fn consume(
    mut consumer: Consumer<(usize, usize)>,
    taken: &Taken,
    dies_after: Option<usize>,
) -> thread::JoinHandle<()> {
    let taken = Arc::clone(taken);
    thread::spawn(move || {
        let mut count = 0;
        while Some(count) != dies_after {
            let Ok(Some(item)) = consumer.take() else { return };
            taken.lock().unwrap().push(item);
            count += 1;
        }
    })
}

/// Checks that all threads end, and that each item is taken exactly once. A consumer that takes all items
/// gets the items of each producer in the order in which they were put.
fn all_end(producers: usize, capacity: usize, dies_after: &'static [Option<usize>]) {
    check(move || {
        let (producer, consumers) = queue(capacity, dies_after.len());
        let taken = Taken::default();
        let consumers: Vec<_> = consumers
            .into_iter()
            .zip(dies_after)
            .map(|(consumer, dies)| consume(consumer, &taken, *dies))
            .collect();
        let all: Vec<_> = (0..producers).map(|number| produce(producer.clone(), number)).collect();
        drop(producer);
        let put: usize = all.into_iter().map(|producer| producer.join().unwrap()).sum();
        for consumer in consumers {
            consumer.join().unwrap();
        }
        let mut taken = taken.lock().unwrap().clone();
        if dies_after.contains(&None) {
            assert_eq!(put, producers * ITEMS, "a consumer takes to the end, and an item was refused");
            assert_eq!(taken.len(), put, "what was put is taken");
        }
        assert!(taken.len() <= put, "more was taken than put");
        if dies_after.len() == 1 {
            assert!(
                taken.is_sorted_by(|one, other| one.0 != other.0 || one.1 < other.1),
                "out of order: {taken:?}"
            );
        }
        taken.sort_unstable();
        let before = taken.len();
        taken.dedup();
        assert_eq!(taken.len(), before, "an item was taken twice");
    });
}

#[test]
fn one_and_one() {
    all_end(1, 1, &[None]);
}

#[test]
fn one_and_three() {
    all_end(1, 2, &[None, None, None]);
}

#[test]
fn three_and_one() {
    all_end(3, 2, &[None]);
}

#[test]
fn two_and_two_with_hardly_any_room() {
    all_end(2, 1, &[None, None]);
}

#[test]
fn one_consumer_of_three_dies() {
    all_end(2, 1, &[None, Some(1), None]);
}

#[test]
fn two_consumers_of_three_die() {
    all_end(2, 1, &[Some(0), None, Some(1)]);
}

#[test]
fn all_consumers_die() {
    all_end(2, 1, &[Some(1), Some(0)]);
}

/// Checks that a consumer that has ended but is not dropped (for example because a pool keeps it) does not
/// delay the pills of other consumers.
#[test]
fn a_consumer_that_has_ended_and_is_kept_holds_up_nobody() {
    check(|| {
        let (producer, mut consumers) = queue::<()>(1, 3);
        let dying: Vec<_> =
            consumers.drain(..2).map(|consumer| thread::spawn(move || drop(consumer))).collect();
        let mut last = consumers.pop().expect("the third");
        let takes = thread::spawn(move || {
            while let Ok(Some(())) = last.take() {}
            last
        });
        drop(producer);
        let kept = takes.join().unwrap();
        for consumer in dying {
            consumer.join().unwrap();
        }
        drop(kept);
    });
}

/// Checks that a producer that is told to stop puts no more items, but still puts its pills.
#[test]
fn a_stopped_producer_lets_its_consumers_end() {
    check(|| {
        let (producer, consumers) = queue(1, 2);
        let taken = Taken::default();
        let consumers: Vec<_> =
            consumers.into_iter().map(|consumer| consume(consumer, &taken, None)).collect();
        let stop = executor::CancelToken::new();
        let stopped = stop.clone();
        let producer = thread::spawn(move || {
            stopped.attach(|| {
                let mut put = 0;
                for item in 0..3 {
                    match producer.put((0, item)) {
                        Ok(()) => put += 1,
                        Err(PutError::Interrupted(_)) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
                drop(producer);
                put
            })
        });
        stop.cancel();
        let put = producer.join().unwrap();
        for consumer in consumers {
            consumer.join().unwrap();
        }
        assert_eq!(taken.lock().unwrap().len(), put, "what was put is taken");
    });
}
