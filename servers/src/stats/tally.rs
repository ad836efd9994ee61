//! Counts the answers and refusals of a server at almost no cost.
//!
//! A counter that all threads write would move from one processor's cache to another with each answer. So the
//! answers are counted in stripes, each in its own cache lines, and each thread writes to one of the stripes.
//! To get the total, a reader adds up all stripes.
//!
//! All operations are relaxed: a counter says nothing about other data, and no thread uses it to learn what
//! another thread has written.

use super::Samples;
use super::family;
use crate::http::{FACTS, Refusal, Status};
use std::array;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How many threads can count answers at the same time without disturbing each other.
const STRIPES: usize = 16;

/// The possible statuses: three-digit numbers from 200 on.
const CODES: usize = 400;
const FIRST_CODE: u16 = 200;

/// Counts the answers and refusals of a server; the threads that send the answers also count them.
#[derive(Debug)]
pub(crate) struct Tally {
    answers: Box<[Stripe]>,
    refusals: [AtomicU64; FACTS.len()],
}

/// How many answers some of the threads have sent, by status. Each stripe is in its own cache lines.
#[derive(Debug)]
#[repr(align(128))]
struct Stripe([AtomicU64; CODES]);

thread_local! {
    /// The stripe of this thread. The first threads have one stripe each; later threads share the
    /// stripes.
    static STRIPE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES
    };
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            answers: (0..STRIPES).map(|_| Stripe(array::from_fn(|_| AtomicU64::new(0)))).collect(),
            refusals: array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

impl Tally {
    /// Counts an answer, before it is sent.
    pub(crate) fn answered(&self, status: Status) {
        let stripe = STRIPE.with(|&stripe| stripe);
        let code = usize::from(status.code() - FIRST_CODE);
        self.answers[stripe].0[code].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a refused request that ends its connection.
    pub(crate) fn refused(&self, refusal: Refusal) {
        self.refusals[refusal.number()].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn measure(&self, samples: &mut Samples) {
        for code in 0..CODES {
            let sum: u64 = self.answers.iter().map(|stripe| stripe.0[code].load(Ordering::Relaxed)).sum();
            if sum > 0 {
                samples.count_of(&family::REQUESTS, &(code + usize::from(FIRST_CODE)).to_string(), sum);
            }
        }
        for ((reason, ..), count) in FACTS.iter().zip(&self.refusals) {
            samples.count_of(&family::REFUSALS, reason, count.load(Ordering::Relaxed));
        }
    }
}
