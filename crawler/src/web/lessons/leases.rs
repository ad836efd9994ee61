//! What it costs, for each way in which workers share a queue of pages, if a worker dies, or pauses and
//! continues.
//!
//! Two workers take pages from one engine. Each worker does one step in a *tick*. The engine sees only the
//! messages of the workers. So the engine cannot distinguish a dead worker from a slow worker. The engine
//! has only a clock and *leases*: each lease is the right to a page until a certain tick.
//!
//! In this simulation, the clock is a number. The first worker is killed at every moment of a run, and it
//! is also paused at every moment, for every duration. The simulation is deterministic: it uses no threads
//! and no random numbers.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::ops::Range;

/// The number of pages to request. Each page is on a site of its own.
pub const PAGES: usize = 7;

/// The number of ticks that a site needs for its answer.
const ANSWER: usize = 4;

/// The ticks of a lease that is long enough: twice the ticks that a worker needs to take a page, request
/// it, wait for the answer, and finish.
const LONG: usize = 12;

/// The number of ticks of a lease that ends before the answer arrives.
const SHORT: usize = 3;

/// A page whose lease has expired this many times is no longer handed out.
pub const TRIES: usize = 3;

/// A run that does not end is stopped after this many ticks.
const END: usize = 500;

/// The ways in which workers share the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A worker takes a page out of the queue, requests it, and reports the answer.
    Pop,
    /// A worker takes a lease, and acknowledges the lease even before it requests the page.
    AcknowledgeFirst,
    /// A worker has a lease for each page that it requests. With the answer, the worker reports the name of
    /// the page.
    NoToken,
    /// A worker has a lease for each page that it requests. With the answer, the worker reports the token
    /// of the lease.
    Token,
    /// A worker reports the token of the lease, but the lease ends before the answer arrives.
    TooShort,
}

impl Way {
    /// All ways that are compared.
    pub const ALL: [Way; 5] = [Way::Pop, Way::AcknowledgeFirst, Way::NoToken, Way::Token, Way::TooShort];

    /// Returns the cost if one worker is killed at the moment that is worst for the result.
    pub fn killed(self) -> Cost {
        self.worst(self.moments().map(|from| from..usize::MAX))
    }

    /// Returns the cost if one worker is paused and continued, at the moment and for the duration that are
    /// worst for the result.
    pub fn stopped(self) -> Cost {
        self.worst(self.moments().flat_map(|from| (1..=2 * LONG).map(move |ticks| from..from + ticks)))
    }

    /// Returns the number of ticks of a run in which both workers stay alive.
    fn moments(self) -> Range<usize> {
        0..run(self, &(0..0)).1
    }

    fn worst(self, away: impl Iterator<Item = Range<usize>>) -> Cost {
        away.map(|away| run(self, &away).0).fold(Cost::default(), |worst, cost| Cost {
            lost: worst.lost.max(cost.lost),
            asked_again: worst.asked_again.max(cost.asked_again),
            counted_again: worst.counted_again.max(cost.counted_again),
            at_once: worst.at_once.max(cost.at_once),
        })
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Way::Pop => "popped",
            Way::AcknowledgeFirst => "leased, acknowledged before the work",
            Way::NoToken => "leased, finished by page",
            Way::Token => "leased, finished by token",
            Way::TooShort => "the same, lease shorter than the work",
        })
    }
}

/// The cost of one run, or the highest cost among many runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// The number of pages without a counted answer.
    pub lost: usize,
    /// The number of requests for a page that were made after an earlier request for the same page.
    pub asked_again: usize,
    /// The number of answers that were counted for pages that already had a counted answer.
    pub counted_again: usize,
    /// The number of requests that a site received while it was answering another request; a polite crawler
    /// sends no such requests.
    pub at_once: usize,
}

// ANCHOR: engine
/// The right to a page until a certain tick.
#[derive(Clone, Copy)]
struct Lease {
    page: usize,
    tries: usize,
    /// The token of the lease; no other lease has the same token, not even another lease of the same page.
    token: usize,
    until: usize,
}

/// The engine that all workers share.
struct Engine {
    way: Way,
    /// The waiting pages, each with the number of its expired leases.
    waiting: VecDeque<(usize, usize)>,
    leases: Vec<Lease>,
    tokens: usize,
    counted: Vec<usize>,
}

impl Engine {
    fn take(&mut self, now: usize) -> Option<Lease> {
        self.run_out(now);
        let (page, tries) = self.waiting.pop_front()?;
        self.tokens += 1;
        let ticks = if self.way == Way::TooShort { SHORT } else { LONG };
        let lease = Lease { page, tries, token: self.tokens, until: now + ticks };
        if self.way != Way::Pop {
            self.leases.push(lease);
        }
        Some(lease)
    }

    /// Puts each page whose lease has expired back into the queue, unless its leases have expired [`TRIES`]
    /// times.
    fn run_out(&mut self, now: usize) {
        for lease in self.leases.extract_if(.., |lease| lease.until <= now) {
            if lease.tries + 1 < TRIES {
                self.waiting.push_back((lease.page, lease.tries + 1));
            }
        }
    }

    /// Ends a lease; returns false if the lease had already expired, so that another worker may have the
    /// page now.
    fn end(&mut self, ended: Lease, now: usize) -> bool {
        self.run_out(now);
        let before = self.leases.len();
        self.leases.retain(|lease| lease.token != ended.token);
        self.leases.len() < before
    }

    fn finish(&mut self, finished: Lease, now: usize) {
        let counts = match self.way {
            Way::Pop | Way::AcknowledgeFirst => true,
            Way::NoToken => {
                self.leases.retain(|lease| lease.page != finished.page);
                true
            }
            Way::Token | Way::TooShort => self.end(finished, now),
        };
        if counts {
            self.counted.push(finished.page);
        }
    }
}
// ANCHOR_END: engine

// ANCHOR: worker
/// The next action of a worker.
#[derive(Clone, Copy)]
enum Next {
    Take,
    Acknowledge(Lease),
    Ask(Lease),
    /// The worker has a lease, and has sent its request in the tick that this variant names.
    Finish(Lease, usize),
}

/// Executes one step of a worker. `asked` collects, for each request, the page and the tick.
fn step(next: Next, engine: &mut Engine, asked: &mut Vec<(usize, usize)>, now: usize) -> Next {
    match next {
        Next::Take => match engine.take(now) {
            Some(lease) if engine.way == Way::AcknowledgeFirst => Next::Acknowledge(lease),
            Some(lease) => Next::Ask(lease),
            None => Next::Take,
        },
        Next::Acknowledge(lease) if engine.end(lease, now) => Next::Ask(lease),
        Next::Acknowledge(_) => Next::Take,
        Next::Ask(lease) => {
            asked.push((lease.page, now));
            Next::Finish(lease, now)
        }
        Next::Finish(lease, since) if now >= since + ANSWER => {
            engine.finish(lease, now);
            Next::Take
        }
        Next::Finish(..) => next,
    }
}
// ANCHOR_END: worker

/// Executes a run in which the first worker does nothing while it is `away`, and returns the cost and the
/// number of ticks.
fn run(way: Way, away: &Range<usize>) -> (Cost, usize) {
    let waiting = (0..PAGES).map(|page| (page, 0)).collect();
    let mut engine = Engine { way, waiting, leases: Vec::new(), tokens: 0, counted: Vec::new() };
    let (mut workers, mut asked) = ([Next::Take; 2], Vec::new());
    let is_over = |engine: &Engine, [first, second]: &[Next; 2]| {
        let is_free = |worker: &Next| matches!(worker, Next::Take);
        let has_ended = is_free(second) && (is_free(first) || away.end == usize::MAX);
        has_ended && engine.waiting.is_empty() && engine.leases.is_empty()
    };
    let mut now = 0;
    while now < END && !is_over(&engine, &workers) {
        for (number, worker) in workers.iter_mut().enumerate() {
            if number != 0 || !away.contains(&now) {
                *worker = step(*worker, &mut engine, &mut asked, now);
            }
        }
        now += 1;
    }
    let pages: BTreeSet<_> = asked.iter().map(|(page, _)| page).collect();
    let counted: BTreeSet<_> = engine.counted.iter().collect();
    // The requests are sorted by their ticks.
    let is_at_once = |(number, (page, at)): &(usize, &(usize, usize))| {
        asked[..*number].iter().any(|(other, since)| other == page && at - since < ANSWER)
    };
    let cost = Cost {
        lost: PAGES - counted.len(),
        asked_again: asked.len() - pages.len(),
        counted_again: engine.counted.len() - counted.len(),
        at_once: asked.iter().enumerate().filter(is_at_once).count(),
    };
    (cost, now)
}

/// Prints the cost of each way as two tables.
pub struct Tables;

impl fmt::Display for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        table(f, "killed", Way::killed)?;
        f.write_str("\n\n")?;
        table(f, "stopped for a while", Way::stopped)
    }
}

fn table(f: &mut fmt::Formatter<'_>, what: &str, cost: fn(Way) -> Cost) -> fmt::Result {
    let title = format!("{PAGES} pages, a worker is {what}");
    write!(f, "{title:<40}{:>6}{:>13}{:>15}{:>9}", "lost", "asked again", "counted again", "at once")?;
    for way in Way::ALL {
        let Cost { lost, asked_again, counted_again, at_once } = cost(way);
        write!(f, "\n{way:<40}{lost:>6}{asked_again:>13}{counted_again:>15}{at_once:>9}")?;
    }
    Ok(())
}
