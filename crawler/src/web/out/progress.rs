//! Lines on a terminal that show the progress of a crawl: of the whole crawl, and of the sites with the
//! most remaining pages.

use crate::web::crawl::store::{SiteNow, Status};
use command_line::ProgressLine;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The interval at which the lines change. The displayed rates are averages over the time since the last
/// change of the lines.
const EVERY: Duration = Duration::from_secs(1);

/// The number of sites that have a line.
const SHOWN: usize = 5;

/// The progress lines, which are removed when this value is dropped.
pub struct Progress {
    line: ProgressLine,
    last: Mutex<Snapshot>,
}

/// The progress of each site at an earlier time.
struct Snapshot {
    at: Instant,
    over: HashMap<Arc<str>, usize>,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new()
    }
}

impl Progress {
    /// Creates the lines of a crawl that begins now.
    pub fn new() -> Progress {
        let last = Snapshot { at: Instant::now(), over: HashMap::new() };
        Progress { line: ProgressLine::after(EVERY), last: Mutex::new(last) }
    }

    /// Shows the progress of the crawl, if enough time has passed since the last change. `fetched` is the
    /// number of pages that are being fetched.
    pub fn show(&self, status: impl FnOnce() -> Status, fetched: usize) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.at.elapsed() < EVERY {
            return;
        }
        self.line.show(|| {
            let Status { sites, .. } = status();
            let lines = lines(&sites, fetched, &last.over, last.at.elapsed());
            let over = sites.into_iter().map(|site| (site.name, site.over)).collect();
            *last = Snapshot { at: Instant::now(), over };
            lines
        });
    }
}

fn lines(sites: &[SiteNow], fetched: usize, before: &HashMap<Arc<str>, usize>, time: Duration) -> String {
    let new = |site: &SiteNow| site.over - before.get(&site.name).copied().unwrap_or_default();
    let rate = |pages: usize| pages as f64 / time.as_secs_f64();
    let sum = |of: fn(&SiteNow) -> usize| sites.iter().map(of).sum::<usize>();
    let mut lines = format!(
        "{} pages, {} wait, {fetched} being fetched, {:.0} pages/s",
        sum(|site| site.over),
        sum(|site| site.waiting),
        rate(sites.iter().map(new).sum()),
    );
    for site in sites.iter().take(SHOWN) {
        let (name, over, waiting) = (&site.name, site.over, site.waiting);
        let _ = write!(lines, "\n  {name}: {over} pages, {waiting} wait, {:.1} pages/s", rate(new(site)));
        if let Some(away) = site.away {
            let _ = write!(lines, ", away for {} s", away.as_secs());
        }
    }
    if sites.len() > SHOWN {
        let _ = write!(lines, "\n  and {} more sites", sites.len() - SHOWN);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_site_has_its_queue_and_its_rate() {
        let site =
            |name: &str, waiting, over| SiteNow { name: name.into(), waiting, taken: 1, over, away: None };
        let sites = [site("http://a", 40, 70), site("http://b", 3, 20), site("http://c", 0, 5)];
        let before = HashMap::from([("http://a".into(), 50), ("http://b".into(), 20)]);
        assert_eq!(
            lines(&sites, 3, &before, Duration::from_secs(2)),
            "95 pages, 43 wait, 3 being fetched, 12 pages/s\n  http://a: 70 pages, 40 wait, 10.0 pages/s\n  \
             http://b: 20 pages, 3 wait, 0.0 pages/s\n  http://c: 5 pages, 0 wait, 2.5 pages/s"
        );
        let many: Vec<_> = (0..7).map(|number| site(&number.to_string(), 1, 1)).collect();
        assert!(lines(&many, 0, &HashMap::new(), EVERY).ends_with("\n  and 2 more sites"));
    }
}
