//! Four wrong ways to use pills that occur in real programs, and the right way; a watchdog ends the runs of
//! the wrong ways.
//!
//! The wrong ways use a simple queue, such as many languages have: every thread that shares the queue may put
//! and take items, and no thread closes the queue. A thread that waits forever continues to wait after the
//! watchdog's report, until the process ends.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time without any event after which the watchdog reports the threads that have not ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// The number of files that a producer has.
const FILES: usize = 3;

/// An element of the queue.
enum Message {
    File,
    Pill,
}

/// A bounded queue of messages.
struct Queue {
    put: SyncSender<Message>,
    take: Mutex<Receiver<Message>>,
}

/// The numbers of files and pills that were handled so far. The threads increase the counts, and the watchdog
/// reads them.
#[derive(Default)]
struct Counts {
    put: AtomicUsize,
    indexed: AtomicUsize,
    pills: AtomicUsize,
}

/// The outcome of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The number of files that all producers have put.
    pub put: usize,
    /// The number of files that consumers have indexed.
    pub indexed: usize,
    /// The number of pills that producers have put.
    pub pills: usize,
    /// The names of the threads that did not end.
    pub stuck: Vec<&'static str>,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen { put, indexed, pills, stuck } = self;
        let s = if *pills == 1 { "" } else { "s" };
        write!(f, "{put} files put, {indexed} indexed, {pills} pill{s} put; ")?;
        match stuck.as_slice() {
            [] => f.write_str("everybody has ended"),
            stuck => write!(f, "the watchdog had enough of: {}", stuck.join(", ")),
        }
    }
}

impl Queue {
    fn new(capacity: usize) -> Arc<Queue> {
        let (put, take) = sync_channel(capacity);
        Arc::new(Queue { put, take: Mutex::new(take) })
    }

    fn put(&self, message: Message) {
        self.put.send(message).expect("the queue itself has a receiver");
    }

    fn take(&self) -> Message {
        self.take
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv()
            .expect("the queue itself has a sender")
    }
}

impl Counts {
    fn put_files(&self, queue: &Queue) {
        for _ in 0..FILES {
            queue.put(Message::File);
            self.put.fetch_add(1, Relaxed);
        }
    }

    fn put_pill(&self, queue: &Queue) {
        queue.put(Message::Pill);
        self.pills.fetch_add(1, Relaxed);
    }

    fn index_until_a_pill(&self, queue: &Queue) {
        while let Message::File = queue.take() {
            self.indexed.fetch_add(1, Relaxed);
        }
    }

    /// Waits until all threads have ended, or until the counts have stopped changing for some time.
    fn watch<const N: usize>(&self, threads: [(&'static str, JoinHandle<()>); N]) -> Seen {
        let counted = || [&self.put, &self.indexed, &self.pills].map(|count| count.load(Relaxed));
        let alive = || threads.iter().filter(|(_, thread)| !thread.is_finished()).map(|(who, _)| *who);
        let (mut before, mut since) = ((counted(), alive().count()), Instant::now());
        while before.1 > 0 && since.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
            let now = (counted(), alive().count());
            if now != before {
                (before, since) = (now, Instant::now());
            }
        }
        // The last counts of a thread are guaranteed to be visible only after the thread has been joined.
        // So the ended threads are joined before the counts are read.
        let (ended, stuck): (Vec<_>, Vec<_>) =
            threads.into_iter().partition(|(_, thread)| thread.is_finished());
        for (_, thread) in ended {
            thread.join().expect("none of them panics");
        }
        let [put, indexed, pills] = counted();
        Seen { put, indexed, pills, stuck: stuck.into_iter().map(|(who, _)| who).collect() }
    }
}

/// Starts a thread that gets the queue and the counts.
fn start(
    (queue, counts): (&Arc<Queue>, &Arc<Counts>),
    work: impl FnOnce(&Queue, &Counts) + Send + 'static,
) -> JoinHandle<()> {
    let (queue, counts) = (Arc::clone(queue), Arc::clone(counts));
    thread::spawn(move || work(&queue, &counts))
}

/// The producer's last loop never ends: the producer puts pills until the queue is full of pills, and then
/// waits forever.
// ANCHOR: endless
pub fn endless() -> Seen {
    let (queue, counts) = (Queue::new(10), Arc::default());
    let producer = start((&queue, &counts), |queue, counts| {
        counts.put_files(queue);
        loop {
            counts.put_pill(queue);
        }
    });
    let consumer = start((&queue, &counts), |queue, counts| counts.index_until_a_pill(queue));
    counts.watch([("the producer", producer), ("the consumer", consumer)])
}
// ANCHOR_END: endless

/// One pill for three consumers: the consumer that takes the pill ends, and the other consumers wait
/// forever.
// ANCHOR: single
pub fn single() -> Seen {
    let (queue, counts) = (Queue::new(10), Arc::default());
    let producer = start((&queue, &counts), |queue, counts| {
        counts.put_files(queue);
        counts.put_pill(queue);
    });
    let consumer = || start((&queue, &counts), |queue, counts| counts.index_until_a_pill(queue));
    let consumers = [("a consumer", consumer()), ("a consumer", consumer()), ("a consumer", consumer())];
    let [first, second, third] = consumers;
    counts.watch([("the producer", producer), first, second, third])
}
// ANCHOR_END: single

/// Each producer puts a pill when it ends. The consumer ends at the first pill, so items that the second
/// producer puts after this pill are never indexed.
// ANCHOR: overtaking
pub fn overtaking() -> Seen {
    let (queue, counts) = (Queue::new(10), Arc::default());
    let produce = |queue: &Queue, counts: &Counts| {
        counts.put_files(queue);
        counts.put_pill(queue);
    };
    let first = start((&queue, &counts), produce);
    let consumer = start((&queue, &counts), |queue, counts| counts.index_until_a_pill(queue));
    while !consumer.is_finished() {
        thread::yield_now(); // the second directory is on a slow disk
    }
    let second = start((&queue, &counts), produce);
    counts.watch([("a producer", first), ("a producer", second), ("the consumer", consumer)])
}
// ANCHOR_END: overtaking

/// The only consumer dies at its first file. The queue fills up, and the producer waits forever for room in
/// the queue.
// ANCHOR: dead
pub fn dead() -> Seen {
    let (queue, counts) = (Queue::new(1), Arc::default());
    let producer = start((&queue, &counts), |queue, counts| {
        counts.put_files(queue);
        counts.put_pill(queue);
    });
    let consumer = start((&queue, &counts), |queue, _| {
        queue.take(); // the thread cannot read the file and ends unnoticed
    });
    counts.watch([("the producer", producer), ("the consumer", consumer)])
}
// ANCHOR_END: dead

/// The right way: with two producers and three consumers, one of which dies, the last producer puts a pill
/// for each consumer. The queue is closed when no consumer is left.
// ANCHOR: right
pub fn right() -> Seen {
    let counts = Arc::<Counts>::default();
    let (producer, consumers) = super::queue(1, 3);
    let produce = |producer: super::Producer<()>| {
        let counts = Arc::clone(&counts);
        thread::spawn(move || {
            for _ in 0..FILES {
                if producer.put(()).is_ok() {
                    counts.put.fetch_add(1, Relaxed);
                }
            }
        }) // the last producer that is dropped puts the pills
    };
    let producers = [producer.clone(), producer].map(produce);
    let consume = |(number, mut consumer): (usize, super::Consumer<()>)| {
        let counts = Arc::clone(&counts);
        thread::spawn(move || {
            while let Ok(Some(())) = consumer.take() {
                counts.indexed.fetch_add(1, Relaxed);
                if number == 0 {
                    return; // this consumer dies
                }
            }
        })
    };
    let consumers: Vec<_> = consumers.into_iter().enumerate().map(consume).collect();
    let mut consumers = consumers.into_iter();
    let threads = producers.into_iter().map(|thread| ("a producer", thread));
    let threads = threads.chain(consumers.by_ref().map(|thread| ("a consumer", thread)));
    let threads: Vec<_> = threads.collect();
    let threads: [_; 5] = threads.try_into().expect("two and three");
    Seen { pills: 3, ..counts.watch(threads) }
}
// ANCHOR_END: right
