//! Three ways to pause between two requests to a site, tried on one site with many pages and other sites
//! with one page each.
//!
//! In this simulation a fetch takes no time, so only the pauses take time. Each way has two threads.
//! [`sleeping`] and [`asking`] have one queue of pages, in the order in which the pages were found;
//! [`scheduled`] has one queue for each site.

use executor::{CancelToken, Cancelled, ExecutorExt, ExecutorService, Latch, Semaphore};
use executor::{ScheduledThreadPoolExecutor, ThreadPoolExecutor};
use std::collections::VecDeque;
use std::fmt;
use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of threads that fetch pages.
const THREADS: usize = 2;

/// The sites, each with the number of its pages. The pages of the first site are found first.
const SITES: [(&str, usize); 5] = [("large", 6), ("ada", 1), ("bob", 1), ("eve", 1), ("sam", 1)];

/// The interval at which the thread that waits for the end checks whether it must stop.
const TICK: Duration = Duration::from_millis(1);

/// The record of a trial.
pub struct Diary {
    begun: Instant,
    pause: Duration,
    /// The site of each fetched page, and the time at which the page was fetched.
    pages: Mutex<Vec<(usize, Instant)>>,
    waiting: AtomicUsize,
    waited: Mutex<Duration>,
    in_vain: AtomicUsize,
}

impl Diary {
    /// Returns the record of a trial that begins now. `pause` is the pause between two requests to a site.
    pub fn new(pause: Duration) -> Arc<Diary> {
        Arc::new(Diary {
            begun: Instant::now(),
            pause,
            pages: Mutex::default(),
            waiting: AtomicUsize::new(0),
            waited: Mutex::default(),
            in_vain: AtomicUsize::new(0),
        })
    }

    fn fetched(&self, site: usize, at: Instant) {
        lock(&self.pages).push((site, at));
    }

    /// Counts the calling thread as waiting while `wait` runs.
    fn wait<T>(&self, wait: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        self.waiting.fetch_add(1, Relaxed);
        let waited = wait();
        self.waiting.fetch_sub(1, Relaxed);
        *lock(&self.waited) += begun.elapsed();
        waited
    }

    /// Returns the sites of the fetched pages, in order, each with the time since the beginning.
    pub fn pages(&self) -> Vec<(&'static str, Duration)> {
        let since = |at: &Instant| at.saturating_duration_since(self.begun);
        lock(&self.pages).iter().map(|(site, at)| (SITES[*site].0, since(at))).collect()
    }

    /// Returns the number of threads that are waiting now.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Relaxed)
    }

    /// Returns the number of times that a thread found a page that could not be fetched yet.
    pub fn in_vain(&self) -> usize {
        self.in_vain.load(Relaxed)
    }
}

/// A table with a line for each site, in which each `#` is a page, and each column is a quarter of the
/// pause.
impl fmt::Display for Diary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = self.pages();
        for (name, _) in SITES {
            let columns = pages.iter().filter(|(site, _)| *site == name);
            let columns = columns.map(|(_, at)| at.as_millis() * 4 / self.pause.as_millis());
            let mut line = String::new();
            for column in columns {
                let column = usize::try_from(column).unwrap_or(usize::MAX);
                line.extend(iter::repeat_n(' ', column.saturating_sub(line.len())));
                line.push('#');
            }
            writeln!(f, "{name:6}{line}")?;
        }
        let waited = lock(&self.waited).as_secs_f64();
        write!(f, "threads waited for {waited:.1} s, and looked in vain {} times", self.in_vain())
    }
}

/// Returns a number for each page: the number of the page's site.
fn pages() -> impl Iterator<Item = usize> {
    SITES.iter().enumerate().flat_map(|(site, (_, pages))| iter::repeat_n(site, *pages))
}

// ANCHOR: sleeping
/// Makes a thread sleep after each page; meanwhile no other thread may send requests to the site of the page.
///
/// # Errors
/// Fails if the system cannot start a thread.
pub fn sleeping(diary: &Arc<Diary>, stop: &CancelToken) -> anyhow::Result<()> {
    let pool = ThreadPoolExecutor::builder().threads(THREADS).build()?;
    let sites = SITES.map(|_| Arc::new(Semaphore::new(1)));
    for site in pages() {
        let (diary, only) = (Arc::clone(diary), Arc::clone(&sites[site]));
        let _handle = pool.submit_cancellable(move |token| {
            let _permit = diary.wait(|| only.acquire()).map_err(|_| Cancelled)?;
            diary.fetched(site, Instant::now());
            diary.wait(|| token.sleep(diary.pause))
        })?;
    }
    end(&pool, stop);
    Ok(())
}
// ANCHOR_END: sleeping

// ANCHOR: asking
/// Makes a thread put a page back if the site of the page is paused, and then take the next page.
///
/// # Errors
/// Fails if the system cannot start a thread.
pub fn asking(diary: &Arc<Diary>, stop: &CancelToken) -> anyhow::Result<()> {
    let pool = ThreadPoolExecutor::builder().threads(THREADS).build()?;
    let queue: Arc<Mutex<VecDeque<usize>>> = Arc::new(Mutex::new(pages().collect()));
    let free = Arc::new(SITES.map(|_| Mutex::new(Instant::now())));
    for _ in 0..THREADS {
        let (diary, queue, free) = (Arc::clone(diary), Arc::clone(&queue), Arc::clone(&free));
        let _handle = pool.submit_cancellable(move |token| {
            loop {
                token.check()?;
                let Some(site) = lock(&queue).pop_front() else { return Ok(()) };
                let (now, mut free) = (Instant::now(), lock(&free[site]));
                if now >= *free {
                    *free = now + diary.pause;
                    diary.fetched(site, now);
                } else {
                    diary.in_vain.fetch_add(1, Relaxed);
                    lock(&queue).push_back(site);
                }
            }
        })?;
    }
    end(&pool, stop);
    Ok(())
}
// ANCHOR_END: asking

/// Waits for a pool's tasks, or stops the tasks.
fn end(pool: &ThreadPoolExecutor, stop: &CancelToken) {
    pool.shutdown();
    while !pool.await_termination(TICK) {
        if stop.is_cancelled() {
            drop(pool.shutdown_now());
        }
    }
}

/// Submits a page to the pool when the pause of its site is over. A timer signals the end of each pause.
///
/// # Errors
/// Fails if the system cannot start a thread.
pub fn scheduled(diary: &Arc<Diary>, stop: &CancelToken) -> anyhow::Result<()> {
    let crawl = Arc::new(Scheduled {
        left: SITES.map(|(_, pages)| AtomicUsize::new(pages)),
        pool: ThreadPoolExecutor::builder().threads(THREADS).build()?,
        timer: ScheduledThreadPoolExecutor::new(1),
        diary: Arc::clone(diary),
        to_do: Latch::new(pages().count()),
    });
    (0..SITES.len()).for_each(|site| crawl.start(site));
    while crawl.to_do.wait_timeout(TICK).is_err() && !stop.is_cancelled() {}
    drop(crawl.timer.shutdown_now());
    crawl.pool.close();
    Ok(())
}

struct Scheduled {
    /// The number of pages of each site that have not been fetched yet.
    left: [AtomicUsize; SITES.len()],
    pool: ThreadPoolExecutor,
    timer: ScheduledThreadPoolExecutor,
    diary: Arc<Diary>,
    to_do: Latch,
}

impl Scheduled {
    /// Submits a task that fetches a page of a site.
    fn start(self: &Arc<Self>, site: usize) {
        let crawl = Arc::clone(self);
        let _ = self.pool.execute(move || crawl.page(site));
    }

    // ANCHOR: scheduled
    fn page(self: &Arc<Self>, site: usize) {
        self.diary.fetched(site, Instant::now());
        self.to_do.count_down();
        if self.left[site].fetch_sub(1, Relaxed) > 1 {
            let crawl = Arc::clone(self);
            let _ = self.timer.schedule(self.diary.pause, move || crawl.start(site));
        }
    }
    // ANCHOR_END: scheduled
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    type Way = fn(&Arc<Diary>, &CancelToken) -> anyhow::Result<()>;

    /// Runs one of the ways, with endless pauses, until `wanted` is true; returns the sites whose pages were
    /// fetched before that.
    fn until(way: Way, wanted: impl Fn(&Diary) -> bool) -> Vec<&'static str> {
        let (diary, stop) = (Diary::new(Duration::from_hours(1)), CancelToken::new());
        thread::scope(|scope| {
            let ended = scope.spawn(|| way(&diary, &stop));
            while !wanted(&diary) && !ended.is_finished() {
                thread::sleep(TICK);
            }
            let pages = diary.pages();
            stop.cancel();
            ended.join().unwrap().unwrap();
            let mut sites: Vec<_> = pages.into_iter().map(|(site, _)| site).collect();
            sites.sort_unstable();
            sites
        })
    }

    #[test]
    fn threads_that_sleep_fetch_nothing_elsewhere() {
        assert_eq!(
            until(sleeping, |diary| diary.waiting() == THREADS && !diary.pages().is_empty()),
            ["large"]
        );
    }

    #[test]
    fn threads_that_ask_are_busy_for_nothing() {
        let every = ["ada", "bob", "eve", "large", "sam"];
        assert_eq!(until(asking, |diary| diary.pages().len() == 5 && diary.in_vain() > 1000), every);
    }

    #[test]
    fn what_is_scheduled_keeps_no_thread() {
        let every = ["ada", "bob", "eve", "large", "sam"];
        assert_eq!(until(scheduled, |diary| diary.pages().len() == 5 && diary.waiting() == 0), every);
    }

    #[test]
    fn all_are_polite_and_come_to_their_end() {
        let pause = Duration::from_millis(10);
        for way in [sleeping, asking, scheduled] as [Way; 3] {
            let diary = Diary::new(pause);
            way(&diary, &CancelToken::new()).unwrap();
            let pages = diary.pages();
            assert_eq!(pages.len(), 10);
            let large: Vec<_> =
                pages.iter().filter(|(site, _)| *site == "large").map(|(_, at)| *at).collect();
            assert!(large.windows(2).all(|pair| pair[1].saturating_sub(pair[0]) >= pause), "{large:?}");
        }
    }
}
