//! Each of two threads raises its own flag and then looks at the flag of the other thread. The question is
//! whether both threads can find that the other flag is not raised.
//!
//! No sequence of the four steps allows this result. A real processor produces this result, unless the
//! program uses a stronger memory order.
//!
//! ```sh
//! cargo run --release --example memory_order
//! ```
//!
//! The book explains this example in the chapter "Who sees what".

use std::env;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;

const ROUNDS: usize = 100_000;

fn main() {
    let rounds = env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    for order in [Relaxed, SeqCst] {
        println!("{order:?}: in {} of {rounds} rounds both saw nothing", both_saw_nothing(rounds, order));
    }
}

/// Returns the number of rounds in which neither thread saw the other's flag.
fn both_saw_nothing(rounds: usize, order: Ordering) -> usize {
    // ANCHOR: rounds
    let (left, right) = (Apart(AtomicBool::new(false)), Apart(AtomicBool::new(false)));
    let (saw_nothing, meeting) = (AtomicUsize::new(0), Meeting::default());
    let in_each_round = |mine: &AtomicBool, other: &AtomicBool| {
        mine.store(true, order);
        if !other.load(order) {
            saw_nothing.fetch_add(1, Relaxed);
        }
    };
    // ANCHOR_END: rounds
    let mut both = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..rounds {
                meeting.wait();
                in_each_round(&left.0, &right.0);
                meeting.wait();
                meeting.wait(); // waits while the other thread counts
            }
        });
        for _ in 0..rounds {
            meeting.wait();
            in_each_round(&right.0, &left.0);
            meeting.wait();
            both += saw_nothing.swap(0, Relaxed) / 2;
            left.0.store(false, Relaxed);
            right.0.store(false, Relaxed);
            meeting.wait();
        }
    });
    both
}

/// A flag with its own cache line. If both flags shared a cache line, the cores would exchange both flags
/// together.
#[repr(align(128))]
struct Apart(AtomicBool);

/// A meeting point, at which each of two threads waits for the other thread. The threads spin instead of
/// sleeping, so that both continue at the same moment.
#[derive(Default)]
struct Meeting {
    came: AtomicUsize,
}

impl Meeting {
    fn wait(&self) {
        // After the meeting, each thread sees everything that the other thread did before the meeting (`AcqRel`
        // here, `Acquire` below).
        let together = self.came.fetch_add(1, AcqRel) / 2 * 2 + 2;
        let mut looks = 0_u32;
        while self.came.load(Acquire) < together {
            looks += 1;
            if looks.is_multiple_of(1000) {
                thread::yield_now(); // perhaps the other thread has no core
            }
            spin_loop();
        }
    }
}
