//! Checks the frontier and a worker. Each page is handed out once, a site never has more pages in progress
//! than it has stripes, and the crawl ends when all pages are finished. Shuttle stops a worker at any moment,
//! and the tests check that no page is lost.

extern crate executor_model as executor;

use crawler_model::{check, door};
use door::sync::{Arc, Mutex};
use executor::{CancelToken, Cancelled, ExecutorService, ThreadPoolExecutor, TrackingExecutor};
use shuttle::thread::{self, ThreadId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[path = "../../src/web/crawl/frontier/mod.rs"]
#[allow(dead_code, unreachable_pub)] // it reads like a module of its library
mod frontier;
#[path = "../../src/web/crawl/store.rs"]
#[allow(dead_code, unreachable_pub)]
mod store;

use frontier::{DEADLY, Failure, Frontier, Job, Kind, Limits, Trouble, pause_after};
use store::{Status, Store, Taken, work};

const SECOND: Duration = Duration::from_secs(1);
const LIMITS: Limits = Limits { pages: 100, patience: Duration::MAX, delay: Duration::ZERO, per_site: 2 };

fn page(number: usize, depth: u32) -> Job {
    Job::page(number.to_string(), if number.is_multiple_of(2) { "even" } else { "odd" }, depth)
}

/// Returns the links of each page: to the next pages, to the page before, and to the page itself. There are
/// seven pages; only one link leads to each of the last two pages.
fn links(url: &str) -> Vec<Job> {
    let number: usize = url.parse().unwrap();
    let to: &[usize] = match number {
        0 => &[0, 1, 2, 3],
        1 => &[0, 4],
        2 => &[3, 5],
        5 => &[6, 0],
        _ => &[0],
    };
    to.iter().map(|number| page(*number, 1)).collect()
}

const PAGES: usize = 7;

/// A store in memory that panics if a worker or a frontier breaks a rule.
struct Book {
    frontier: Frontier,
    now: Instant,
    /// The pages whose first try fails.
    fails: &'static [&'static str],
    /// The number of calls of `exchange` that succeed before a call fails.
    good: usize,
    /// The thread of the worker, or `None` if something may stop the worker. If nothing may stop the worker,
    /// a turn that brings some outcomes may take at least as many new leases, and only the worker's thread
    /// takes a turn that brings no outcome.
    undisturbed: Option<ThreadId>,
    /// The number of leases that are handed out.
    out: usize,
    /// The largest number of outcomes that one turn has reported.
    most: usize,
    /// The number of times that each page was handed out.
    taken: BTreeMap<String, usize>,
    under_way: BTreeSet<String>,
    over: BTreeSet<String>,
}

impl Book {
    fn new(limits: Limits, fails: &'static [&'static str]) -> Book {
        let mut frontier = Frontier::new(limits);
        frontier.add([page(0, 0)]);
        let (taken, under_way, over) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Book {
            frontier,
            now: Instant::now(),
            fails,
            good: usize::MAX,
            undisturbed: None,
            out: 0,
            most: 0,
            taken,
            under_way,
            over,
        }
    }

    fn open_site(&mut self, job: &Job) {
        self.frontier.open_site(&job.site, None, self.now + frontier::RULES_COUNT);
        self.frontier.has_been_asked(job, self.now);
    }

    fn end(&mut self, job: Job) {
        self.out -= 1;
        if job.kind == Kind::Robots {
            return self.open_site(&job);
        }
        assert!(self.under_way.remove(&*job.url), "{job:?}");
        if job.attempts == 0 && self.fails.contains(&&*job.url) {
            // Page 6 must not be given up before its site has answered, so the site is closed and asked for
            // its rules.
            let failure = if &*job.url == "6" { Failure::Unanswered } else { Failure::NoAnswer };
            self.frontier.failed(job, failure, self.now);
        } else {
            self.frontier.add(links(&job.url));
            self.frontier.done(&job, true, true, self.now);
            assert!(self.over.insert(job.url.to_string()), "{job:?} is over twice");
        }
    }

    fn exchange(&mut self, finished: Vec<(Job, ())>, most: usize) -> Taken<Job> {
        self.most = self.most.max(finished.len());
        self.now += SECOND * 400; // longer than any pause
        for (job, ()) in finished {
            self.end(job);
        }
        let leases = self.frontier.take(most, self.now);
        self.out += leases.len();
        for job in leases.iter().filter(|job| job.kind == Kind::Page) {
            *self.taken.entry(job.url.to_string()).or_default() += 1;
            assert!(self.under_way.insert(job.url.to_string()), "{job:?} is under way twice");
            let of_the_site =
                self.under_way.iter().filter(|url| page(url.parse().unwrap(), 0).site == job.site);
            assert!(of_the_site.count() <= LIMITS.per_site, "too many at once: {:?}", self.under_way);
        }
        Taken { leases, pause: self.frontier.pause(self.now), is_over: self.frontier.is_over() }
    }

    fn give_back(&mut self, job: Job) {
        self.out -= 1;
        self.under_way.remove(&*job.url);
        self.frontier.give_back(job);
    }

    fn status(&self) -> Status {
        self.frontier.status(self.now)
    }
}

impl Store for Mutex<Book> {
    type Lease = Job;
    type Outcome = ();
    type Error = &'static str;

    fn exchange(&self, finished: Vec<(Job, ())>, most: usize) -> Result<Taken<Job>, Self::Error> {
        let mut book = self.lock().unwrap();
        if let Some(main) = book.undisturbed {
            assert!(most >= finished.len(), "it has brought {finished:?}, and has room for {most}");
            assert!(thread::current().id() == main || !finished.is_empty(), "it has brought nothing");
        }
        book.good = book.good.checked_sub(1).ok_or("the disk is full")?;
        Ok(book.exchange(finished, most))
    }

    fn finish(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    fn give_back(&self, leases: Vec<Job>) -> Result<(), Self::Error> {
        let mut book = self.lock().unwrap();
        for job in leases {
            book.give_back(job);
        }
        Ok(())
    }

    fn status(&self) -> Status {
        self.lock().unwrap().status()
    }
}

/// Checks, for any order of outcomes, that each page is handed out once, and once more if it fails.
#[test]
fn every_page_once_whatever_comes_first() {
    for seed in 0..2_000 {
        let mut random = seed;
        let mut below = |count: usize| {
            random =
                6_364_136_223_846_793_005_u64.wrapping_mul(random).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(random >> 33).unwrap() % count
        };
        let fails: &[&str] = if seed % 2 == 0 { &[] } else { &["0", "3", "6"] };
        let (mut book, mut under_way, mut finished) = (Book::new(LIMITS, fails), Vec::new(), Vec::new());
        for turn in 0.. {
            let taken = book.exchange(std::mem::take(&mut finished), 1 + below(4));
            under_way.extend(taken.leases);
            if taken.is_over {
                break;
            }
            assert!(turn < 10_000, "it has no end, with seed {seed}");
            for _ in 0..below(under_way.len() + 1) {
                let job = under_way.swap_remove(below(under_way.len()));
                match below(8) {
                    0 => book.give_back(job),
                    _ => finished.push((job, ())),
                }
            }
        }
        assert!(under_way.is_empty() && finished.is_empty(), "the end came too early, with seed {seed}");
        assert_eq!((book.over.len(), book.status().seen), (PAGES, PAGES), "seed {seed}");
    }
}

/// Checks that stopping a worker at any moment loses no page: each page that was handed out is finished or
/// was given back.
#[test]
fn stopped_at_any_moment_no_page_is_lost() {
    check(|| {
        let (stop, done) = (CancelToken::new(), Arc::new(Mutex::new(Vec::new())));
        let stopping = thread::spawn({
            let stop = stop.clone();
            move || stop.cancel()
        });
        let tracking = Arc::new(pool());
        let book = Arc::new(Mutex::new(Book::new(LIMITS, &["3"])));
        let task = {
            let done = Arc::clone(&done);
            move |job: &Job, token: &CancelToken| {
                token.check()?; // the fetch
                done.lock().unwrap().push(job.clone());
                Ok::<(), Cancelled>(())
            }
        };
        work(&book, &tracking, 3, &stop, task, |_| ()).unwrap();
        stopping.join().unwrap();
        let book = book.lock().unwrap();
        assert_eq!(book.out, 0, "{:?} were neither finished nor given back", book.under_way);
        let done = done.lock().unwrap().iter().filter(|job| job.kind == Kind::Page).count();
        let failed =
            usize::from(book.taken.get("3").is_some_and(|times| *times > 1) || book.over.len() < done);
        assert_eq!(book.over.len() + failed, done, "what was fetched is over, or has failed");
        let status = book.status();
        assert_eq!(book.over.len() + status.open, status.seen, "{status:?}");
    });
}

/// Runs a worker with its own store until its work ends.
fn worked(
    book: Book,
    tracking: TrackingExecutor<ThreadPoolExecutor, Job>,
) -> (Result<usize, &'static str>, Book) {
    let (book, tracking) = (Arc::new(Mutex::new(book)), Arc::new(tracking));
    let ended = work(&book, &tracking, 3, &CancelToken::new(), |_, _| Ok(()), |_| ());
    drop(tracking);
    (ended, Arc::into_inner(book).expect("all tasks have ended").into_inner().unwrap())
}

fn pool() -> TrackingExecutor<ThreadPoolExecutor, Job> {
    TrackingExecutor::owning(ThreadPoolExecutor::builder().threads(2).build().unwrap()).with_tags()
}

#[test]
fn a_worker_that_nobody_stops_comes_to_the_end() {
    let most = Arc::new(AtomicUsize::new(0)); // the most outcomes of one turn, in any schedule
    check({
        let most = Arc::clone(&most);
        move || {
            let undisturbed = Some(thread::current().id());
            let (ended, book) = worked(Book { undisturbed, ..Book::new(LIMITS, &["0", "3"]) }, pool());
            assert_eq!((ended, book.over.len(), book.status().open), (Ok(0), PAGES, 0));
            most.fetch_max(book.most, Ordering::Relaxed);
        }
    });
    assert!(most.load(Ordering::Relaxed) > 1, "no turn has brought what two threads had finished");
}

/// Checks that the work ends if the store fails or the executor refuses a task.
#[test]
fn what_goes_wrong_ends_the_work() {
    check(|| {
        let full = Book { good: 4, ..Book::new(LIMITS, &[]) };
        assert_eq!(worked(full, pool()).0, Err("the disk is full"));

        let refusing = pool();
        refusing.shutdown();
        let (ended, book) = worked(Book::new(LIMITS, &[]), refusing);
        assert_eq!(
            (ended, book.taken.len(), book.out),
            (Ok(0), 0, 0),
            "the question for its rules was given back"
        );
    });
}

/// First answers the questions for the rules of the sites, and then returns the pages that can be leased.
fn opened(frontier: &mut Frontier, now: Instant) -> Vec<Job> {
    for job in frontier.take(10, now) {
        assert_eq!(job.kind, Kind::Robots);
        frontier.open_site(&job.site, None, now + frontier::RULES_COUNT);
        frontier.has_been_asked(&job, now);
    }
    frontier.take(10, now)
}

#[test]
fn a_stripe_rests_after_its_page() {
    let (mut frontier, now) =
        (Frontier::new(Limits { delay: SECOND, per_site: 1, ..LIMITS }), Instant::now());
    frontier.add([page(0, 0), page(4, 1), page(2, 1)]);
    assert_eq!(opened(&mut frontier, now), [], "it has just been asked for its rules");
    assert_eq!(frontier.pause(now), Some(SECOND));
    let first = frontier.take(10, now + SECOND);
    assert_eq!(first, [page(0, 0)]);
    frontier.done(&first[0], true, true, now + SECOND * 3);
    assert_eq!(frontier.take(10, now + Duration::from_millis(3999)), []);
    assert_eq!(frontier.take(10, now + SECOND * 4), [page(4, 1)], "the nearest to the start, in their order");
}

#[test]
fn each_site_has_its_turn() {
    let (mut frontier, now) = (Frontier::new(Limits { per_site: 9, ..LIMITS }), Instant::now());
    frontier.add([2, 4, 6, 8, 1, 3].map(|number| page(number, 0)));
    frontier.take(10, now).iter().for_each(|job| frontier.open_site(&job.site, None, now + SECOND));
    let urls: Vec<_> = frontier.take(4, now).into_iter().map(|job| job.url.to_string()).collect();
    assert_eq!(urls, ["2", "1", "4", "3"]);
}

/// Checks that a site is left to the next run if one of its pages gets no answer. The crawl ends, and each
/// page that was found is finished or left to the next run.
#[test]
fn a_site_that_is_left_is_no_longer_waited_for() {
    let mut book = Book::new(Limits { patience: Duration::ZERO, ..LIMITS }, &["6"]);
    let (mut finished, mut turns) = (Vec::new(), 0);
    loop {
        let taken = book.exchange(std::mem::take(&mut finished), 1);
        if taken.is_over {
            break;
        }
        finished = taken.leases.into_iter().map(|job| (job, ())).collect();
        turns += 1;
        assert!(turns < 50, "it has no end");
    }
    let status = book.status();
    assert_eq!((status.open, book.over.len() + status.left), (0, status.seen));
    assert!(status.left > 0);
}

/// Checks that a failed try of a page counts only if the page's site was available. Pages that were in flight
/// when the site was closed go back to their places among the waiting pages.
#[test]
fn an_outage_costs_no_try() {
    let (mut frontier, mut now) = (Frontier::new(Limits { per_site: 3, ..LIMITS }), Instant::now());
    frontier.add([page(0, 0), page(2, 1), page(4, 1)]);
    let tried = |times| [(0, 0), (2, 1), (4, 1)].map(|(n, depth)| Job { attempts: times, ..page(n, depth) });
    let fail = |frontier: &mut Frontier, pages: Vec<Job>, now| {
        let of_the_site =
            |page| matches!(frontier.failed(page, Failure::Unanswered, now), Trouble::OfTheSite(_));
        assert_eq!(
            pages.into_iter().map(of_the_site).filter(|it| *it).count(),
            1,
            "one of them closes the site"
        );
        assert_eq!(frontier.take(10, now), [], "the site rests");
    };
    let pages = opened(&mut frontier, now);
    assert_eq!(pages, tried(0));
    fail(&mut frontier, pages, now);
    now += pause_after(0);
    let asking = frontier.take(10, now).remove(0);
    assert_eq!((asking.kind, asking.attempts), (Kind::Robots, 1));
    assert_eq!(frontier.away(&asking, None, now), Trouble::OfTheSite(pause_after(1)));
    now += pause_after(1);
    let pages = opened(&mut frontier, now);
    assert_eq!(pages, tried(0), "after a rest in which it was away");
    fail(&mut frontier, pages, now);
    now += pause_after(0);
    assert_eq!(opened(&mut frontier, now), tried(1));
}

#[test]
fn no_more_pages_than_asked_for() {
    let mut frontier = Frontier::new(Limits { pages: 2, ..LIMITS });
    let added = [links("0"), links("1")].map(|pages| frontier.add(pages));
    let status = frontier.status(Instant::now());
    assert_eq!((added[0].new.len(), added[1].new.len(), status.seen, status.open), (2, 0, 2, 2));
    assert_eq!((added[0].left_out, added[1].left_out), (2, 1));
}

/// Checks that a page that two processes were fetching when they died is handed out only while no other such
/// page is being fetched. While one suspect is being fetched, the frontier hands out other pages.
#[test]
fn a_third_death_has_one_suspect() {
    let (mut frontier, now) = (Frontier::new(Limits { per_site: 9, ..LIMITS }), Instant::now());
    let suspect = |number| Job { deaths: DEADLY - 1, ..page(number, 0) };
    frontier.add([suspect(0), suspect(2), suspect(1), page(3, 1), page(4, 1)]);
    let first = opened(&mut frontier, now);
    assert_eq!(first.len(), 3, "the other pages of their sites go on: {first:?}");
    let deadly: Vec<_> = first.iter().filter(|job| job.deaths + 1 >= DEADLY).cloned().collect();
    assert_eq!(deadly.len(), 1, "{first:?}");
    frontier.done(&deadly[0], true, true, now);
    let second = frontier.take(10, now);
    let more: Vec<_> = second.iter().filter(|job| job.deaths + 1 >= DEADLY).collect();
    assert_eq!(more.len(), 1, "{second:?}");
}

/// Checks that the rules of a site are valid for a day. After a day, the site is asked for its rules again,
/// before the next page.
#[test]
fn old_rules_are_asked_for_again() {
    let (mut frontier, now) = (Frontier::new(LIMITS), Instant::now());
    frontier.add([page(0, 0), page(2, 0), page(4, 0)]);
    let first = opened(&mut frontier, now);
    assert_eq!(first.len(), 2);
    frontier.done(&first[0], true, true, now);
    let later = now + frontier::RULES_COUNT;
    assert_eq!(opened(&mut frontier, later), [page(4, 0)]);
}

/// Checks that a pause that a site asked for also counts in the next run, unless it is longer than the
/// patience of that run.
#[test]
fn a_rest_of_the_run_before_is_kept() {
    for (patience, left) in [(SECOND * 60, 0), (SECOND, 1)] {
        for is_known in [false, true] {
            let (mut frontier, now) = (Frontier::new(Limits { patience, ..LIMITS }), Instant::now());
            if is_known {
                frontier.open_site(&"even".into(), None, now + frontier::RULES_COUNT);
            }
            frontier.leave_alone(&"even".into(), now + SECOND * 30, now);
            frontier.add([page(0, 0)]);
            assert_eq!(frontier.take(10, now + SECOND * 29), []);
            assert_eq!(frontier.status(now).left, left);
            assert_eq!(frontier.take(10, now + SECOND * 30).len(), 1 - left);
        }
    }
}
