//! The properties of the frontier; each property is a function. `exercise.toml` lists the properties and says
//! what each property promises.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use exercises_harness::{aside, expect, fail, panic_on_purpose, step};

use super::exercise::{Frontier, Page, Visit};
use crate::probe::{Counter, Shared, until_asleep, until_others_wait};
use crate::sync::{Arc, thread};

mod site;

use site::{CYCLIC, Crawl, TREE, links_of};

const SPINS: &str = "a worker asks again and again instead of sleeping: wait on a condition variable, and notify it when \
                     a page comes or the crawl ends";
const SLEEPS_ON: &str = "a page that comes wakes a worker, and so does a page that is put back. The end wakes all workers that wait";
const EARLY: &str =
    "a page that was found and is not over may still have links, so the crawl is not over: take() waits";
const TWICE: &str = "a page is found once: check whether it is new and add it in one step, under one lock";
const NOT_ENDED: &str = "the crawl is over when each page that was found is over. A page that was found is counted once, and \
                         counted off once";
const ALONE: &str = "a worker that reads a page must not hold anything that other workers need: hold no lock while a page is read";
const LOST: &str = "a page is left from the moment at which it is found until it is over, whatever happens to it \
                    meanwhile. Its links are found before it is over";

fn join_all(threads: Vec<thread::JoinHandle<()>>, what: &str) {
    expect(what, SLEEPS_ON, || {
        for thread in threads {
            let _ = thread.join();
        }
    });
}

/// Takes a page. `why` says why `take()` must return a page.
fn visit<'a>(frontier: &'a Frontier, why: &str) -> Visit<'a> {
    let visit = expect(&format!("take() when {why}"), SLEEPS_ON, || frontier.take());
    visit.unwrap_or_else(|| fail(&format!("take() returned None, and {why}"), EARLY))
}

/// Asserts that no page is handed out. `why` says why no page is left. If the answer hands out a page, `cause`
/// names the likely mistake.
fn none(frontier: &Frontier, why: &str, cause: &str) {
    let visit = expect(&format!("take() when {why}"), NOT_ENDED, || frontier.take());
    if let Some(visit) = visit {
        fail(&format!("take() handed out page {}, and {why}", visit.page()), cause);
    }
}

/// The call with which a worker ends its visit of a page.
type Ends = fn(Visit<'_>);

/// The result of `take()` of each worker; each worker calls `take()` once.
#[derive(Default)]
struct Taken(Shared<Vec<Option<Page>>>);

impl Taken {
    /// Starts a worker. The worker calls `take()` once, and then calls `then` if it has got a visit.
    fn worker(
        self: &Arc<Self>,
        frontier: &Arc<Frontier>,
        then: impl FnOnce(Visit<'_>) + Send + 'static,
    ) -> thread::JoinHandle<()> {
        let (taken, frontier) = (Arc::clone(self), Arc::clone(frontier));
        thread::spawn(move || {
            let visit = frontier.take();
            let page = visit.as_ref().map(Visit::page);
            step(&page.map_or_else(|| "take() returned None".to_owned(), |page| format!("got page {page}")));
            taken.0.with(|taken| taken.push(page));
            if let Some(visit) = visit {
                then(visit);
            }
        })
    }

    /// Returns the results in sorted order, with None before all pages.
    fn sorted(&self) -> Vec<Option<Page>> {
        let mut taken = self.0.with(|taken| taken.clone());
        taken.sort_unstable();
        taken
    }

    /// Asserts that take() has not returned None to any worker. `why` says why the crawl is not over.
    fn nobody_ended(&self, why: &str) {
        if self.sorted().contains(&None) {
            fail(&format!("take() returned None, and {why}"), EARLY);
        }
    }

    /// Asserts that no worker got a page. `why` says why no page was left.
    fn nobody_got_a_page(&self, why: &str, cause: &str) {
        if let Some(page) = self.sorted().into_iter().flatten().next() {
            fail(&format!("take() handed out page {page}, and {why}"), cause);
        }
    }
}

fn workers(number: usize, taken: &Arc<Taken>, frontier: &Arc<Frontier>) -> Vec<thread::JoinHandle<()>> {
    (0..number).map(|_| taken.worker(frontier, |visit| visit.done(&[]))).collect()
}

/// Asserts that `left()` returns exactly the expected pages.
fn check_left(frontier: &Frontier, mut expected: Vec<Page>, when: &str) {
    let mut left = expect("left()", ALONE, || frontier.left());
    left.sort_unstable();
    expected.sort_unstable();
    if left != expected {
        fail(&format!("{when}, {expected:?} are not over, and left() returned {left:?}"), LOST);
    }
}

pub fn one_worker_reads_the_whole_site() {
    let frontier = Frontier::new(&[1]);
    let mut read = Vec::new();
    let what = "take(), by the only worker, which has nothing under way,";
    // The loop takes at most one page more than the site has, so that the loop ends even if a page is handed
    // out twice.
    while read.len() <= TREE.len() {
        let Some(visit) = expect(what, NOT_ENDED, || frontier.take()) else { break };
        let page = visit.page();
        read.push(page);
        visit.done(links_of(TREE, page));
    }
    read.sort_unstable();
    if read != [0, 1, 2, Page::MAX] {
        fail(
            &format!("pages 0, 1, 2 and {} can be reached, and these were handed out: {read:?}", Page::MAX),
            "done() adds the links of the page, and take() hands each of them out. Any number may be a page",
        );
    }
}

pub fn without_starts_the_crawl_is_over() {
    let frontier = Frontier::new(&[]);
    none(&frontier, "the crawl began without a page", "no page was found, so no page can be handed out");
    check_left(&frontier, vec![], "in a crawl that began without a page");
}

pub fn a_page_is_handed_out_once() {
    let frontier = Frontier::new(&[1, 1, 2]);
    let mut read = Vec::new();
    while read.len() < 4 {
        let Some(visit) = expect("take(), by the only worker,", NOT_ENDED, || frontier.take()) else { break };
        let page = visit.page();
        read.push(page);
        visit.done(&[page, 1, 2, 3, 3]);
    }
    read.sort_unstable();
    if read != [1, 2, 3] {
        fail(&format!("there are pages 1, 2 and 3, and these were handed out: {read:?}"), TWICE);
    }
}

pub fn two_pages_with_one_link_find_it_once() {
    let frontier = Arc::new(Frontier::new(&[1, 2]));
    let taken = Arc::new(Taken::default());
    let both = (0..2).map(|_| taken.worker(&frontier, |visit| visit.done(&[3]))).collect();
    join_all(both, "take() and done() of two workers, for whom there are two pages");
    for _ in 0..2 {
        let visit = expect("take(), by the only worker,", NOT_ENDED, || frontier.take());
        let page = visit.as_ref().map(Visit::page);
        taken.0.with(|taken| taken.push(page));
        if let Some(visit) = visit {
            visit.done(&[]);
        }
    }
    let taken: Vec<Page> = taken.sorted().into_iter().flatten().collect();
    if taken != [1, 2, 3] {
        let seen = format!("pages 1 and 2 link to page 3, and these were handed out: {taken:?}");
        fail(&seen, TWICE);
    }
}

pub fn pages_are_read_at_the_same_time() {
    let frontier = Arc::new(Frontier::new(&[1, 2]));
    let taken = Arc::new(Taken::default());
    let reading = Arc::new(Counter::new("both pages to be read at the same time"));
    let gate = Arc::new(Counter::new("the rest of the page to come"));
    let threads = (0..2)
        .map(|_| {
            let (reading, gate) = (Arc::clone(&reading), Arc::clone(&gate));
            taken.worker(&frontier, move |visit| {
                reading.add();
                gate.wait_for(1);
                visit.done(&[]);
            })
        })
        .collect();
    expect("the reading of two pages by two workers at the same time", ALONE, || reading.wait_for(2));
    expect("left(), while two pages are being read,", ALONE, || frontier.left());
    gate.add();
    join_all(threads, "done() of two workers");
}

pub fn a_worker_waits_while_a_page_is_being_read() {
    const SLEEPS: &str =
        "a worker that finds no page should sleep while a page is being read, and it does not";
    let frontier = Arc::new(Frontier::new(&[1, 2]));
    let taken = Arc::new(Taken::default());
    let (first, second) = (visit(&frontier, "pages 1 and 2 wait"), visit(&frontier, "a page waits"));
    let threads = workers(1, &taken, &frontier);
    until_others_wait(SLEEPS, SPINS);
    taken.nobody_ended("two pages are still being read");
    step("one page is done, without a link");
    first.done(&[]);
    until_others_wait(SLEEPS, SPINS);
    taken.nobody_ended("one of two pages is done, and the other one is still being read");
    step("the other page is done, and links to page 3");
    second.done(&[3]);
    join_all(threads, "take() of a worker that slept when page 3 was found");
    taken.nobody_ended("page 3 was found before the page that links to it was over");
}

pub fn a_worker_whose_page_is_gone_waits_again() {
    let frontier = Arc::new(Frontier::new(&[1]));
    let taken = Arc::new(Taken::default());
    let first = visit(&frontier, "page 1 waits");
    let threads = workers(1, &taken, &frontier);
    until_asleep(1, SPINS);
    step("page 1 is done, and links to page 2, for which the worker is woken");
    first.done(&[2]);
    // Either this thread or the worker takes page 2, and then ends the crawl.
    if let Some(second) = expect("take(), when page 2 was found,", NOT_ENDED, || frontier.take()) {
        until_others_wait(
            "a worker that was woken, and finds no page, should sleep again, and it does not",
            SPINS,
        );
        taken.nobody_ended("page 2, for which this worker was woken, is being read by another one");
        second.done(&[]);
    }
    join_all(threads, "take() of a worker, when pages 1 and 2 are over");
}

pub fn the_end_waits_for_links() {
    // Two workers call take() once each, and each must get a page: the second worker gets the link of the
    // first worker's page.
    let frontier = Arc::new(Frontier::new(&[1]));
    let taken = Arc::new(Taken::default());
    let threads = (0..2).map(|_| taken.worker(&frontier, |visit| visit.done(&[2]))).collect();
    join_all(threads, "take() of two workers, for whom there are page 1 and its link");
    taken.nobody_ended("page 1 links to page 2, which no worker has read");
}

pub fn each_page_that_comes_wakes_a_worker() {
    let frontier = Arc::new(Frontier::new(&[1]));
    let taken = Arc::new(Taken::default());
    let reading = Arc::new(Counter::new("three pages to be read at the same time"));
    let first = visit(&frontier, "page 1 waits");
    let threads = (0..3)
        .map(|_| {
            let reading = Arc::clone(&reading);
            taken.worker(&frontier, move |visit| {
                reading.add();
                reading.wait_for(3);
                visit.done(&[]);
            })
        })
        .collect();
    until_asleep(3, SPINS);
    step("page 1 is done, and links to pages 2, 3 and 4");
    first.done(&[2, 3, 4]);
    join_all(threads, "the reading of three pages by three workers that slept when the pages were found");
    taken.nobody_ended("there was a page for each of three workers");
}

pub fn every_worker_learns_of_the_end() {
    let ends: [(&str, Ends); 2] = [
        ("the last page is done", |visit| visit.done(&[])),
        ("the last page is done, and links to itself", |visit| visit.done(&[1])),
    ];
    for (how, end) in ends {
        let frontier = Arc::new(Frontier::new(&[1]));
        let taken = Arc::new(Taken::default());
        let last = visit(&frontier, "page 1 waits");
        let threads = workers(3, &taken, &frontier);
        until_asleep(3, SPINS);
        step(how);
        end(last);
        join_all(
            threads,
            &format!("take() of three workers that slept when {}", how.replace(" is ", " was ")),
        );
        taken.nobody_got_a_page("the crawl is over", TWICE);
    }
}

pub fn the_end_stays() {
    let frontier = Arc::new(Frontier::new(&[1]));
    visit(&frontier, "page 1 waits").done(&[]);
    for _ in 0..3 {
        none(&frontier, "the crawl is over", TWICE);
    }
    let taken = Arc::new(Taken::default());
    join_all(workers(2, &taken, &frontier), "take() of workers that come when the crawl is over");
    taken.nobody_got_a_page("the crawl is over", TWICE);
}

pub fn a_page_whose_reading_panics_is_over() {
    let frontier = Arc::new(Frontier::new(&[1, 2]));
    let taken = Arc::new(Taken::default());
    let panics = taken.worker(&frontier, |visit| {
        let _visit = visit;
        panic_on_purpose()
    });
    join_all(vec![panics], "take() of a worker that gets a page");
    let page = visit(&frontier, "of two pages, one was given up and the other one waits");
    let number = page.page();
    if taken.sorted() == [Some(number)] {
        fail(&format!("page {number} was given up, and handed out again"), "only again() puts a page back");
    }
    page.done(&[1, 2]);
    none(
        &frontier,
        "one of two pages was given up, and the other one, which has a link to it, is done",
        "a page that was given up is over for good, and a link to it finds nothing: the page was found before",
    );
}

pub fn a_panic_ends_the_crawl_if_its_page_was_the_last() {
    let frontier = Arc::new(Frontier::new(&[1]));
    let taken = Arc::new(Taken::default());
    let last = visit(&frontier, "page 1 waits");
    let threads = workers(3, &taken, &frontier);
    until_asleep(3, SPINS);
    step("the last page is given up");
    drop(last);
    join_all(threads, "take() of three workers that slept when the last page was given up");
    taken.nobody_got_a_page("page 1, the only one, was given up", "only again() puts a page back");
}

pub fn a_page_that_is_put_back_is_handed_out_again() {
    let frontier = Frontier::new(&[1]);
    visit(&frontier, "page 1 waits").again();
    for _ in 0..20 {
        visit(&frontier, "page 1 was put back").again();
    }
    visit(&frontier, "page 1 was put back").done(&[]);
    none(&frontier, "page 1, which was put back many times, is done", TWICE);
    // A link to a page that was put back does not add the page a second time.
    let frontier = Frontier::new(&[1, 2]);
    let (back, other) = (visit(&frontier, "pages 1 and 2 wait"), visit(&frontier, "a page waits"));
    let page = back.page();
    back.again();
    other.done(&[page]);
    visit(&frontier, "a page was put back").done(&[]);
    none(&frontier, "the page that was put back is done; it was linked from another one meanwhile", TWICE);
}

pub fn a_page_that_is_put_back_is_not_over() {
    let frontier = Arc::new(Frontier::new(&[1, 2]));
    let taken = Arc::new(Taken::default());
    let (reading, gate) = (
        Arc::new(Counter::new("both pages to be read")),
        Arc::new(Counter::new("the rest of the page to come")),
    );
    let visits = [visit(&frontier, "pages 1 and 2 wait"), visit(&frontier, "a page waits")];
    let threads = (0..3)
        .map(|_| {
            let (reading, gate) = (Arc::clone(&reading), Arc::clone(&gate));
            taken.worker(&frontier, move |visit| {
                reading.add();
                gate.wait_for(1);
                let links: &[Page] = if visit.page() == 1 { &[3] } else { &[] };
                visit.done(links);
            })
        })
        .collect();
    until_asleep(3, SPINS);
    step("pages 1 and 2 are put back");
    visits.into_iter().for_each(Visit::again);
    let what = "the reading, by workers that slept, of two pages that were put back,";
    expect(what, SLEEPS_ON, || reading.wait_for(2));
    until_others_wait(
        "a worker that finds no page should sleep while a page is being read, and it does not",
        SPINS,
    );
    taken.nobody_ended("pages 1 and 2 were put back, and are not over");
    gate.add();
    join_all(
        threads,
        "take() of three workers, for whom there are pages 1 and 2, and 3, to which page 1 links,",
    );
    taken.nobody_ended("page 1 was put back, and links to page 3");
}

pub fn stop_lets_every_worker_go() {
    let frontier = Arc::new(Frontier::new(&[1]));
    let taken = Arc::new(Taken::default());
    let first = visit(&frontier, "page 1 waits");
    let threads = workers(3, &taken, &frontier);
    until_asleep(3, SPINS);
    step("the crawl is stopped");
    expect("stop(), while a page is being read,", ALONE, || frontier.stop());
    join_all(threads, "take() of three workers that slept when the crawl was stopped");
    taken.nobody_got_a_page("the crawl was stopped", "no page was waiting");
    aside(|| first.done(&[]));
}

pub fn the_end_is_not_missed() {
    for is_stop in [false, true] {
        let frontier = Arc::new(Frontier::new(&[1]));
        let taken = Arc::new(Taken::default());
        let last = visit(&frontier, "page 1 waits");
        let threads = workers(1, &taken, &frontier);
        // The crawl ends here. On some schedules the worker looks for a page at this moment.
        let (how, last) = if is_stop {
            step("the crawl is stopped");
            expect("stop(), while a page is being read,", ALONE, || frontier.stop());
            ("the crawl was stopped", Some(last))
        } else {
            step("the last page is done");
            last.done(&[]);
            ("the last page was done", None)
        };
        join_all(threads, &format!("take() of a worker that looked for a page when {how}"));
        taken.nobody_got_a_page("there was none", TWICE);
        aside(|| drop(last)); // not earlier: the drop of a visit may wake a worker
    }
}

pub fn after_a_stop_no_page_is_handed_out() {
    const GOES_ON: &str =
        "a stop is more important than waiting pages: take() checks first whether the crawl was stopped";
    let frontier = Frontier::new(&[1, 2, 3]);
    let (back, first) = (visit(&frontier, "pages wait"), visit(&frontier, "pages wait"));
    frontier.stop();
    for _ in 0..2 {
        none(&frontier, "the crawl was stopped", GOES_ON);
    }
    back.again();
    none(&frontier, "the crawl was stopped before a page was put back", GOES_ON);
    first.done(&[4]);
    none(&frontier, "the crawl was stopped before page 4 was found", GOES_ON);
    frontier.stop();
    none(&frontier, "the crawl was stopped twice", GOES_ON);
}

pub fn left_is_what_is_not_over() {
    let frontier = Frontier::new(&[1, 2]);
    check_left(&frontier, vec![1, 2], "before a page was handed out");
    let first = visit(&frontier, "two pages wait");
    check_left(&frontier, vec![1, 2], "while one of two pages is being read");
    let second = visit(&frontier, "a page waits");
    check_left(&frontier, vec![1, 2], "when a worker took both pages");
    let number = second.page();
    first.done(&[1, 2, 3, 4]);
    check_left(
        &frontier,
        vec![number, 3, 4],
        "when one page is done, and links to itself and to pages 3 and 4",
    );
    second.again();
    check_left(&frontier, vec![number, 3, 4], "when a page was put back");
    let given_up = visit(&frontier, "three pages wait");
    let mut open = vec![number, 3, 4];
    open.retain(|page| *page != given_up.page());
    drop(given_up);
    check_left(&frontier, open.clone(), "when a page was given up");
    let (back, last) = (visit(&frontier, "two pages wait"), visit(&frontier, "a page waits"));
    frontier.stop();
    check_left(&frontier, open, "when the crawl was stopped and two pages were being read");
    let number = back.page();
    last.done(&[number, 5]);
    check_left(
        &frontier,
        vec![number, 5],
        "when a page that links to page 5 was read to its end after the stop",
    );
    back.again();
    check_left(&frontier, vec![number, 5], "when a page was put back after the stop");
}

pub fn left_misses_nothing_at_any_moment() {
    let ends: [(&str, Ends); 2] = [
        ("done, and links to pages 2 and 3", |visit| visit.done(&[2, 3])),
        ("put back", |visit| visit.again()),
    ];
    for (how, end) in ends {
        let frontier = Arc::new(Frontier::new(&[1]));
        let taken = Arc::new(Taken::default());
        let threads = vec![taken.worker(&frontier, end)];
        let mut left = expect("left()", ALONE, || frontier.left());
        left.sort_unstable();
        let has_all = left.contains(&1) || (left.contains(&2) && left.contains(&3));
        let is_repeated = left.windows(2).any(|pages| pages[0] == pages[1]);
        if !has_all || is_repeated {
            fail(&format!("while page 1 was handed out and {how}, left() returned {left:?}"), LOST);
        }
        join_all(threads, "take() of a worker that gets a page");
    }
}

pub fn what_is_left_after_a_stop_was_not_read() {
    let crawl = Crawl::of(TREE);
    let threads = (0..2).map(|_| crawl.worker(false)).collect();
    crawl.stop();
    join_all(threads, "two workers of a crawl that is stopped");
    let when = format!("a crawl was stopped when {:?} had been read", crawl.read());
    check_left(&crawl.frontier, crawl.not_read(), &when);
}

pub fn many_workers_come_to_the_end() {
    for fails in [false, true] {
        let crawl = Crawl::of(CYCLIC);
        let threads = (0..3).map(|_| crawl.worker(fails)).collect();
        join_all(threads, "a crawl of four pages by three workers");
        let read = crawl.read();
        if read != [1, 2, 3, 4] {
            fail(&format!("there are pages 1, 2, 3 and 4, and these were read: {read:?}"), TWICE);
        }
        check_left(&crawl.frontier, vec![], "when the crawl is over");
    }
}

/// Returns true on the first few schedules. The tests with many pages or workers run only on the first few
/// schedules, because a mistake with many pages shows on each schedule.
fn is_one_of_the_first(runs: &AtomicUsize) -> bool {
    runs.fetch_add(1, Relaxed) < 4
}

pub fn many_pages_come_to_the_end() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    if !is_one_of_the_first(&RUNS) {
        return;
    }
    // Page 0 has many links, and each of the other pages below 100 has one link.
    const MANY: Page = 1_100;
    const ALL: Page = MANY + 99;
    let frontier = Frontier::new(&[0]);
    let first = visit(&frontier, "page 0 waits");
    first.done(&(1..=MANY).collect::<Vec<_>>());
    let mut read = Vec::new();
    for _ in 1..=ALL {
        let visit = visit(&frontier, "pages wait");
        let page = visit.page();
        read.push(page);
        visit.done(&[MANY + page][..usize::from(page < 100)]);
    }
    none(&frontier, "each page was read", TWICE);
    read.sort_unstable();
    if !read.iter().copied().eq(1..=ALL) {
        fail(&format!("pages 1 to {ALL} were found, and these were read: {read:?}"), TWICE);
    }
    check_left(&frontier, vec![], "when the crawl is over");
}

pub fn each_of_many_pages_wakes_a_worker() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    if !is_one_of_the_first(&RUNS) {
        return;
    }
    const MANY: usize = 24;
    let frontier = Arc::new(Frontier::new(&[0]));
    let taken = Arc::new(Taken::default());
    let reading = Arc::new(Counter::new("as many pages to be read at the same time as there are workers"));
    let first = visit(&frontier, "page 0 waits");
    let threads = (0..MANY)
        .map(|_| {
            let reading = Arc::clone(&reading);
            taken.worker(&frontier, move |visit| {
                reading.add();
                reading.wait_for(MANY);
                visit.done(&[]);
            })
        })
        .collect();
    until_asleep(MANY, SPINS);
    step(&format!("page 0 is done, and has {MANY} links"));
    first.done(&(1..).take(MANY).collect::<Vec<_>>());
    let what = format!("the reading of {MANY} pages by {MANY} workers that slept when the pages were found");
    join_all(threads, &what);
    taken.nobody_ended("there was a page for each worker");
}
