//! The flag that tells whether submitters wait: no submitter sleeps while there is room, and no wake-up is
//! useless.
//!
//! The pool's code for this property is in several files and needs the whole pool. So this file repeats the
//! steps of that code in the same order, as functions with the names of the originals. Only the batch is the
//! library's own code:
//!
//! | here | in `thread_pool/` |
//! |---|---|
//! | `claim` | a worker's claim from the batch, and its read of the flag |
//! | `admit` | a submission under the lock: a task gets in if there is room beside the batch's rest |
//! | `look` | what a submitter under [`Block`](executor_model::Block) does each time before it sleeps |
//! | `queue_submitter`, `unqueue_submitter`, `wake_submitter` | the submitters' line, under the lock |
//!
//! No thread really sleeps here. A submitter that finds no room does not really sleep: it ends its part of
//! the test. If another thread wakes the submitter, the submitter looks for room again. When all threads have
//! ended, the test checks that no submitter sleeps while there is room.

use std::collections::VecDeque;
use std::sync::Arc;

use loom::sync::Mutex;
use loom::sync::atomic::Ordering;
use loom::thread;

use super::filled;
use super::library::{Batch, Batches};
use crate::seq_cst::AtomicBool;
use crate::{model, model_bounded, sync};

/// A mistake that the model makes on purpose in one step of the protocol.
#[derive(Clone, Copy, PartialEq)]
enum Broken {
    /// The submitter looks for room before it announces that it waits.
    LooksFirst,
    /// The worker reads the flag before it claims a task.
    ReadsFirst,
    /// The worker's read of the flag is not ordered after the worker's claim.
    ReadsRelaxed,
    /// The thread that wakes a submitter does not clear the flag.
    FlagStays,
    /// A submitter whose task was accepted does not wake the next submitter, although there may be room for
    /// the next task, too.
    TellsNobody,
}

/// A pool whose queue is full. A worker of the pool looks at the pool's state only if the worker has a
/// reason.
struct Pool {
    batch: sync::Arc<Batch>,
    submitter_waits: AtomicBool,
    state: Mutex<PoolData>,
    broken: Option<Broken>,
}

struct PoolData {
    batches: Batches,
    capacity: usize,
    inbox: usize,
    submitters: VecDeque<(u64, Arc<Parker>)>,
    next_ticket: u64,
}

/// The wake-ups of one submitter.
#[derive(Default)]
struct Parker(Mutex<WakeUps>);

#[derive(Default)]
struct WakeUps {
    pending: bool,
    in_all: usize,
}

#[derive(Default)]
struct Submitter {
    parker: Arc<Parker>,
    ticket: Option<u64>,
    got_in: bool,
}

impl Parker {
    fn wake(&self) {
        let mut wake_ups = self.0.lock().unwrap();
        wake_ups.pending = true;
        wake_ups.in_all += 1;
    }

    fn was_woken(&self) -> bool {
        std::mem::take(&mut self.0.lock().unwrap().pending)
    }
}

impl Pool {
    fn full(capacity: usize, broken: Option<Broken>) -> Self {
        let mut batches = Batches::default();
        let (batch, _) = filled(&mut batches, capacity);
        let state = PoolData { batches, capacity, inbox: 0, submitters: VecDeque::new(), next_ticket: 0 };
        Self { batch, submitter_waits: AtomicBool::new(false), state: Mutex::new(state), broken }
    }

    fn is(&self, broken: Broken) -> bool {
        self.broken == Some(broken)
    }

    fn claim(&self) {
        let read_before = self.is(Broken::ReadsFirst).then(|| self.submitter_waits.load(Ordering::SeqCst));
        assert!(self.batch.claim().is_some());
        let order = if self.is(Broken::ReadsRelaxed) { Ordering::Relaxed } else { Ordering::SeqCst };
        if read_before.unwrap_or_else(|| self.submitter_waits.load(order)) {
            self.wake_submitter(&self.state.lock().unwrap());
        }
    }

    fn wake_submitter(&self, state: &PoolData) {
        let waits = if self.is(Broken::FlagStays) {
            self.submitter_waits.load(Ordering::SeqCst)
        } else {
            self.submitter_waits.swap(false, Ordering::SeqCst)
        };
        if waits && let Some((_, first)) = state.submitters.front() {
            first.wake();
        }
    }

    /// Returns true if the submitter's task was accepted. If the result is false, the submitter sleeps.
    fn look(&self, submitter: &mut Submitter) -> bool {
        submitter.ticket.get_or_insert_with(|| self.queue_submitter(&submitter.parker));
        if !self.is(Broken::LooksFirst) {
            self.submitter_waits.store(true, Ordering::SeqCst);
        }
        submitter.got_in = self.admit();
        if self.is(Broken::LooksFirst) {
            self.submitter_waits.store(true, Ordering::SeqCst);
        }
        if submitter.got_in {
            self.unqueue_submitter(submitter.ticket.take());
        }
        submitter.got_in
    }

    fn admit(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        let there_is_room = state.inbox + state.batches.remaining() < state.capacity;
        state.inbox += usize::from(there_is_room);
        there_is_room
    }

    fn queue_submitter(&self, parker: &Arc<Parker>) -> u64 {
        let mut state = self.state.lock().unwrap();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.submitters.push_back((ticket, Arc::clone(parker)));
        ticket
    }

    fn unqueue_submitter(&self, ticket: Option<u64>) {
        let mut state = self.state.lock().unwrap();
        state.submitters.retain(|&(other, _)| Some(other) != ticket);
        if !self.is(Broken::TellsNobody) {
            self.submitter_waits.store(true, Ordering::SeqCst);
            self.wake_submitter(&state);
        }
    }
}

/// The workers claim one task for each submitter that waits for room.
fn play(submitters: usize, broken: Option<Broken>) {
    let pool = Arc::new(Pool::full(submitters, broken));
    let submitters: Vec<_> = (0..submitters)
        .map(|_| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || {
                let mut submitter = Submitter::default();
                while !pool.look(&mut submitter) && submitter.parker.was_woken() {}
                submitter
            })
        })
        .collect();
    for _ in &submitters {
        pool.claim();
    }
    let mut submitters: Vec<_> = submitters.into_iter().map(|submitter| submitter.join().unwrap()).collect();
    while let Some(woken) = submitters.iter_mut().find(|one| !one.got_in && one.parker.was_woken()) {
        pool.look(woken);
    }
    assert!(submitters.iter().all(|submitter| submitter.got_in), "a submitter sleeps beside a free place");
}

#[test]
fn a_submitter_does_not_sleep_beside_a_free_place() {
    model(|| play(1, None));
}

#[test]
fn two_submitters_do_not_sleep_beside_two_free_places() {
    model_bounded(3, || play(2, None));
}

#[test]
#[should_panic(expected = "a submitter sleeps beside a free place")]
fn a_submitter_that_says_so_after_its_look_sleeps() {
    model(|| play(1, Some(Broken::LooksFirst)));
}

#[test]
#[should_panic(expected = "a submitter sleeps beside a free place")]
fn a_claimer_that_reads_the_flag_before_its_claim_misses_a_submitter() {
    model(|| play(1, Some(Broken::ReadsFirst)));
}

#[test]
#[should_panic(expected = "a submitter sleeps beside a free place")]
fn a_claimer_that_reads_the_flag_in_no_order_with_its_claim_misses_a_submitter() {
    model(|| play(1, Some(Broken::ReadsRelaxed)));
}

#[test]
#[should_panic(expected = "a submitter sleeps beside a free place")]
fn a_submitter_that_tells_nobody_leaves_the_next_asleep() {
    model_bounded(3, || play(2, Some(Broken::TellsNobody)));
}

/// Two places in the queue become free while one submitter waits. The flag is already cleared at the second
/// claim, so the submitter must look again when both places are free.
fn play_two_claims(broken: Option<Broken>) {
    let pool = Arc::new(Pool::full(2, broken));
    let claimer = {
        let pool = Arc::clone(&pool);
        thread::spawn(move || [(); 2].map(|()| pool.claim()))
    };
    let mut submitter = Submitter::default();
    let at_once = pool.look(&mut submitter);
    claimer.join().unwrap();
    assert!(at_once || submitter.parker.was_woken() && pool.look(&mut submitter));
    assert!(submitter.parker.0.lock().unwrap().in_all <= 1, "woken more than once for one look");
}

#[test]
fn a_submitter_is_woken_once_however_much_room_there_is() {
    model(|| play_two_claims(None));
}

#[test]
#[should_panic(expected = "woken more than once for one look")]
fn a_flag_that_stays_up_wakes_a_submitter_for_each_claim() {
    model(|| play_two_claims(Some(Broken::FlagStays)));
}
