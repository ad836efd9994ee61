//! The ways in which the classic listing stops a crawl. Each way does one thing wrong, as in the listing, and
//! does everything else correctly.

use super::{Crawl, Page, SITE, TwoDays};
use executor::{ExecutorService, NotTerminated};
use std::time::Duration;

/// The time that the listing waits for its tasks. The slow page takes longer than this time limit, whatever
/// the limit is.
const TIMEOUT: Duration = Duration::from_millis(50);

/// `/news` is complete when the request to stop arrives. The task for `/news` has not returned yet, so the
/// page is reported as cut off.
// ANCHOR: false_positive
pub fn false_positive() -> TwoDays {
    let crawl = Crawl::start((1, 1), |crawl, page, token| {
        let links = crawl.server.get(page);
        crawl.submit_links(links, token)?;
        if page == "/news" {
            crawl.moment.here(); // everything is done, and then the request to stop comes
        }
        Ok(())
    });
    crawl.moment.comes();
    let mut left = crawl.stop();
    crawl.moment.over();
    left.extend(crawl.cut_off()); // certain and possible interruptions are treated alike
    crawl.next_day(left)
}
// ANCHOR_END: false_positive

/// `/news` is being fetched, and two tasks wait in the queue. `shutdown_now` returns the tasks, but not
/// their pages.
// ANCHOR: wrappers
pub fn wrappers() -> TwoDays {
    let crawl = Crawl::start((1, 1), |crawl, page, token| {
        if page == "/news" {
            crawl.moment.here();
            token.check()?; // this page is cut off
        }
        let links = crawl.server.get(page);
        crawl.submit_links(links, token)
    });
    crawl.moment.comes();
    let tasks = crawl.pages.shutdown_now();
    // At this point, the listing calls `((CrawlTask) task).getPage()`. In Rust, a `Task` cannot be cast. A
    // `Task` reveals only its name.
    let mut left: Vec<Page> = tasks.iter().filter_map(|task| address(task.name()?)).collect();
    crawl.moment.over();
    left.extend(crawl.cut_off());
    crawl.next_day(left)
}

/// Returns the page with the given name on the site.
fn address(name: &str) -> Option<Page> {
    SITE.iter().map(|(page, _)| *page).find(|page| *page == name)
}
// ANCHOR_END: wrappers

/// The first page has three links. When the request to stop arrives, one link has been submitted, and the
/// next link has just been recorded as seen.
// ANCHOR: links_lost
pub fn links_lost() -> TwoDays {
    let crawl = Crawl::start((1, 1), |crawl, page, token| {
        for &link in crawl.server.get(page) {
            token.check()?;
            if crawl.is_new(link) {
                if link == "/shop" {
                    crawl.moment.here(); // the link is recorded as seen, but not submitted yet
                }
                crawl.submit(link); // refused
            }
        }
        Ok(())
    });
    crawl.moment.comes();
    let mut left = crawl.stop();
    crawl.moment.over();
    left.extend(crawl.cut_off()); // the first page, whose links are examined again
    crawl.next_day(left)
}
// ANCHOR_END: links_lost

/// Two pages, `/news` and `/shop`, are being fetched. `/news` gives up at once, and `/shop` takes longer
/// than the time that the listing waits. After the time limit, the listing does not ask about either of the
/// two pages.
// ANCHOR: too_slow
pub fn too_slow() -> TwoDays {
    let crawl = Crawl::start((2, 2), |crawl, page, token| {
        match page {
            "/news" => {
                crawl.moment.is_here.count_down();
                token.sleep(Duration::from_hours(1))?; // gives up as soon as the task is told to stop
            }
            "/shop" => {
                crawl.moment.here(); // does not check the token
                token.check()?;
            }
            _ => (),
        }
        let links = crawl.server.get(page);
        crawl.submit_links(links, token)
    });
    crawl.moment.comes();
    let mut left = crawl.stop();
    if crawl.pages.await_termination(TIMEOUT) {
        left.extend(crawl.cut_off());
    } else {
        assert_eq!(crawl.pages.cut_off(), Err(NotTerminated), "asking all the same does not help");
    }
    let two_days = crawl.next_day(left);
    crawl.moment.over(); // the listing does not wait for this
    crawl.cut_off();
    two_days
}
// ANCHOR_END: too_slow
