//! The frontier under shuttle: each page once, never more of a site than it has stripes, and the end is noticed once, at the end. And what a
//! crawl does when it is stopped: no page is lost.

extern crate executor_model as executor;

use crawler_model::{check, door};
use door::sync::{Arc, Mutex};
use executor::{ExecutorExt, ExecutorService, ThreadPoolExecutor, TrackingExecutor};
use shuttle::thread;
use std::collections::BTreeMap;
use std::time::Duration;

#[path = "../../src/web/frontier.rs"]
#[allow(dead_code, unreachable_pub)] // it reads like a module of its library
mod frontier;

use frontier::{Failure, Frontier, Job, Kind, Trouble};

fn page(number: usize, depth: u32) -> Job {
    let site = if number.is_multiple_of(2) { "even" } else { "odd" };
    Job { url: number.to_string().into(), site: site.into(), depth, attempts: 0, kind: Kind::Page }
}

/// Where the pages lead: to the next ones, back, and to themselves. Seven pages, of which the last two have one link to them only.
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

/// What workers share. The queue of those that are ready stands for the pool.
struct Crawl {
    frontier: Frontier,
    stripes: usize,
    ready: Mutex<Vec<Job>>,
    /// How often each page was fetched, and how many of each site are being fetched.
    fetched: Mutex<BTreeMap<String, usize>>,
    busy: Mutex<BTreeMap<String, usize>>,
    ends: Mutex<usize>,
    /// Pages that fail at their first try.
    fails: &'static [&'static str],
}

impl Crawl {
    fn start(&self, pages: impl IntoIterator<Item = Job>) {
        self.ready.lock().unwrap().extend(pages);
    }

    /// What a worker does, until the crawl is over.
    fn work(&self) {
        loop {
            if *self.ends.lock().unwrap() > 0 {
                return;
            }
            let next = self.ready.lock().unwrap().pop();
            match next {
                Some(page) => self.task(page),
                None => thread::yield_now(),
            }
        }
    }

    fn task(&self, page: Job) {
        if page.kind == Kind::Robots {
            return self.start(self.frontier.open_site(&page.site, self.stripes));
        }
        self.enter(&page);
        let is_last = if page.attempts == 0 && self.fails.contains(&&*page.url) {
            self.leave(&page);
            // Page 6 may not be given up before its site has answered: so its site is closed, and asked.
            let failure = if &*page.url == "6" { Failure::Unanswered } else { Failure::NoAnswer };
            match self.frontier.failed(page.clone(), failure) {
                Trouble::OfThePage(retry) => self.start(self.frontier.again(retry)),
                Trouble::OfTheSite(_, asking) => self.start([asking]),
                Trouble::Known | Trouble::Left(_) => (),
            }
            self.frontier.open_pages() == 0
        } else {
            let added = self.frontier.add(links(&page.url));
            self.start(added.ready);
            self.leave(&page);
            self.frontier.done(&page.site, true)
        };
        self.start(self.frontier.free(&page.site));
        *self.ends.lock().unwrap() += usize::from(is_last);
    }

    fn enter(&self, page: &Job) {
        let mut busy = self.busy.lock().unwrap();
        let busy = busy.entry(page.site.to_string()).or_default();
        *busy += 1;
        assert!(*busy <= self.stripes, "{busy} pages of a site that has {} stripes", self.stripes);
        *self.fetched.lock().unwrap().entry(page.url.to_string()).or_default() += 1;
    }

    fn leave(&self, page: &Job) {
        *self.busy.lock().unwrap().get_mut(&*page.site).unwrap() -= 1;
    }
}

fn every_page_once(workers: usize, stripes: usize, fails: &'static [&'static str]) {
    check(move || {
        let (fetched, busy) = (Mutex::default(), Mutex::default());
        let (ready, ends) = (Mutex::default(), Mutex::default());
        let crawl = Arc::new(Crawl {
            frontier: Frontier::new(100, Duration::MAX),
            stripes,
            ready,
            fetched,
            busy,
            ends,
            fails,
        });
        let added = crawl.frontier.add([page(0, 0)]);
        crawl.start(added.ready);
        let workers: Vec<_> = (0..workers)
            .map(|_| {
                let crawl = Arc::clone(&crawl);
                thread::spawn(move || crawl.work())
            })
            .collect();
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(*crawl.ends.lock().unwrap(), 1, "the end is noticed once");
        let fetched = crawl.fetched.lock().unwrap();
        assert_eq!(fetched.len(), PAGES, "the end came too early");
        for (url, times) in fetched.iter() {
            assert_eq!(*times, 1 + usize::from(fails.contains(&url.as_str())), "page {url}");
        }
        assert_eq!(crawl.frontier.open_pages(), 0);
    });
}

#[test]
fn two_workers_one_stripe() {
    every_page_once(2, 1, &[]);
}

#[test]
fn three_workers_two_stripes() {
    every_page_once(3, 2, &[]);
}

#[test]
fn pages_that_fail_are_tried_again() {
    every_page_once(2, 1, &["0", "3", "6"]);
}

/// A site of which a page has no answer is left. The crawl ends, and each page that was found is over, or left.
#[test]
fn a_site_that_is_left_is_no_longer_waited_for() {
    check(|| {
        let (fetched, busy) = (Mutex::default(), Mutex::default());
        let (ready, ends) = (Mutex::default(), Mutex::default());
        let frontier = Frontier::new(100, Duration::ZERO);
        let crawl = Arc::new(Crawl { frontier, stripes: 2, ready, fetched, busy, ends, fails: &["6"] });
        crawl.start(crawl.frontier.add([page(0, 0)]).ready);
        let workers = [(); 2].map(|()| {
            let crawl = Arc::clone(&crawl);
            thread::spawn(move || crawl.work())
        });
        for worker in workers {
            worker.join().unwrap();
        }
        let over: usize = crawl.frontier.sites().iter().map(|site| site.over).sum();
        assert_eq!((crawl.frontier.open_pages(), over + crawl.frontier.left()), (0, crawl.frontier.seen()));
        assert!(crawl.frontier.left() > 0);
    });
}

/// A try counts if the site was there. Pages that were under way when it was closed keep their places.
#[test]
fn an_outage_costs_no_try() {
    check(|| {
        let frontier = Arc::new(Frontier::new(100, Duration::MAX));
        let rules = frontier.add([page(0, 0), page(2, 1), page(4, 1)]).ready.remove(0);
        // All three at once: one of them closes the site.
        let fail = |pages: Vec<Job>| {
            let failing = pages.into_iter().map(|page| {
                let frontier = Arc::clone(&frontier);
                thread::spawn(move || {
                    let trouble = frontier.failed(page.clone(), Failure::Unanswered);
                    assert_eq!(frontier.free(&page.site), None, "the site rests");
                    usize::from(matches!(trouble, Trouble::OfTheSite(..)))
                })
            });
            let failing: Vec<_> = failing.collect();
            failing.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        };
        let tried = |times: u32| {
            let mut pages = frontier.open_site(&rules.site, 3);
            pages.sort_by_key(|page| Arc::clone(&page.url));
            assert_eq!(
                pages,
                [(0, 0), (2, 1), (4, 1)].map(|(n, depth)| Job { attempts: times, ..page(n, depth) })
            );
            pages
        };
        assert_eq!(fail(tried(0)), 1);
        assert!(matches!(frontier.away(&rules, None), Trouble::OfTheSite(..)));
        assert_eq!(fail(tried(0)), 1, "after a rest in which it was away");
        tried(1);
    });
}

#[test]
fn no_more_pages_than_asked_for() {
    check(|| {
        let frontier = Arc::new(Frontier::new(2, Duration::MAX));
        let add = |number: &'static str| {
            let frontier = Arc::clone(&frontier);
            thread::spawn(move || frontier.add(links(number)).new.len())
        };
        let new: usize = [add("0"), add("1")].map(|thread| thread.join().unwrap()).into_iter().sum();
        assert_eq!((new, frontier.seen(), frontier.open_pages()), (2, 2, 2));
    });
}

/// A crawl that is stopped at any moment: each page that was seen is over, or handed out as not begun, or known to be cut off, or its
/// task was refused.
#[test]
fn stopped_at_any_moment_no_page_is_lost() {
    check(|| {
        let pool = ThreadPoolExecutor::builder().threads(2).build().unwrap();
        let tracking = Arc::new(TrackingExecutor::owning(pool).with_tags());
        let stopped = Arc::new(Stopped {
            frontier: Frontier::new(100, Duration::MAX),
            tracking,
            over: Mutex::default(),
            refused: Mutex::default(),
        });
        let added = stopped.frontier.add([page(0, 0)]);
        added.ready.into_iter().for_each(|page| stopped.start(page));
        thread::yield_now();
        let mut left: Vec<_> = stopped.tracking.stop().into_iter().filter_map(|(_, page)| page).collect();
        while !stopped.tracking.await_termination(Duration::from_secs(1)) {}
        let cut_off = stopped.tracking.cut_off().unwrap();
        left.extend(cut_off.into_iter().filter_map(|task| task.tag));
        left.extend(stopped.refused.lock().unwrap().iter().cloned());
        let mut seen: Vec<_> = stopped.over.lock().unwrap().clone();
        seen.extend(left.iter().filter(|page| page.kind == Kind::Page).map(|page| page.url.to_string()));
        let waiting: usize = stopped.frontier.sites().iter().map(|site| site.waiting).sum();
        seen.sort();
        seen.dedup();
        assert_eq!(
            seen.len() + waiting,
            stopped.frontier.seen(),
            "over or left: {seen:?}, and {waiting} wait"
        );
    });
}

struct Stopped {
    frontier: Frontier,
    tracking: Arc<TrackingExecutor<ThreadPoolExecutor, Job>>,
    over: Mutex<Vec<String>>,
    refused: Mutex<Vec<Job>>,
}

impl Stopped {
    fn start(self: &Arc<Self>, page: Job) {
        let (crawl, tag) = (Arc::clone(self), page.clone());
        let task = page.clone();
        let submitted = self.tracking.tagged(tag).submit_cancellable(move |token| {
            token.check()?; // the fetch
            if task.kind == Kind::Robots {
                crawl.frontier.open_site(&task.site, 2).into_iter().for_each(|page| crawl.start(page));
                return Ok(());
            }
            let added = crawl.frontier.add(links(&task.url));
            crawl.over.lock().unwrap().push(task.url.to_string());
            added.ready.into_iter().for_each(|page| crawl.start(page));
            let _ = crawl.frontier.done(&task.site, true);
            crawl.frontier.free(&task.site).into_iter().for_each(|page| crawl.start(page));
            Ok(())
        });
        if submitted.is_err() {
            self.refused.lock().unwrap().push(page);
        }
    }
}
