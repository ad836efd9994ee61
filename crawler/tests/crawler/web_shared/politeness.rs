//! Tests of the number of requests that a site receives at the same moment, counted by the site.

use super::engine::Engine;
use super::site::Site;
use super::{LEASE, late, records, signal};
use crate::child::{WATCHDOG, crawl, ended, report};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// A lease of this age belongs to a paused process, because no page takes so long.
const OLD: Duration = Duration::from_millis(150);

fn has_an_old_lease(engine: &Engine) -> bool {
    let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() - OLD.as_millis();
    let ends = begun + 2000; // LEASE
    engine.say(&["ZCOUNT", "{test}:leases", "-inf", &ends.to_string()]) != ":0"
}

/// Pauses a process at a moment when the process has a lease, and returns the number of the process. A
/// process that reports an outcome takes the next lease, so any process may have a lease.
fn stop_one_with_a_lease(children: &[Child], engine: &Engine) -> usize {
    let begun = Instant::now();
    while has_an_old_lease(engine) {
        assert!(begun.elapsed() < WATCHDOG, "a lease does not run out");
        thread::sleep(Duration::from_millis(5));
    }
    for process in (0..children.len()).cycle().take(60) {
        signal(&children[process], "-STOP");
        thread::sleep(OLD + Duration::from_millis(50));
        if has_an_old_lease(engine) {
            return process;
        }
        signal(&children[process], "-CONT");
    }
    panic!("none of them ever has a lease");
}

/// Four processes, with four threads each, crawl a site. One process is killed, another process is told to
/// stop, and twice a process is paused for longer than its leases.
fn a_site_that_allows(stripes: usize, pages: usize) {
    let engine = Engine::start();
    let site = Site::start("127.0.0.1", pages, Duration::from_millis(10));
    let folders: [TempDir; 4] = [(); 4].map(|()| tempfile::tempdir().unwrap());
    let start = |process: usize| -> Child {
        let mut command = crawl(folders[process].path(), &site.start, &["--allow-private", "--json"]);
        command.args(["--frontier", &engine.url(), "--crawl", "test", "--per-site", &stripes.to_string()]);
        command.args(LEASE).args(["--threads", "4"]).spawn().unwrap()
    };
    let until = |requests| assert!(site.wait_until(WATCHDOG, |counts| counts.requests() >= requests));
    let mut children = Vec::from([0, 1, 2, 3].map(start));
    let first = 100;
    until(first);
    // From this point on, the site is slow, so that it does not run out of pages while the test looks for a
    // process with a lease.
    site.answers_in(Duration::from_millis(40));
    let victim = stop_one_with_a_lease(&children, &engine);
    children[victim].kill().unwrap();
    children[victim].wait().unwrap();
    children[victim] = start(victim);
    until(first + 20);
    // The killed process sends no requests. From this point on, a process that does not know that its leases
    // have expired may send a request.
    assert!(site.most_at_once() <= stripes, "{} at the same moment", site.most_at_once());
    let mut ran_out = 0;
    for more in [40, 60] {
        until(first + more);
        let stopped = stop_one_with_a_lease(&children, &engine);
        thread::sleep(Duration::from_secs(2)); // longer than a lease
        signal(&children[stopped], "-CONT");
    }
    until(first + 80);
    signal(&children[1], "-INT");
    site.answers_in(Duration::ZERO);
    let told = ended(children.remove(1));
    children.push(start(1));
    for output in children.into_iter().map(ended).chain([told]) {
        let (status, report) = report(&output);
        assert!(matches!(status, Some(0 | 130)), "{report}");
        ran_out += late(&report);
    }
    assert!(records(&folders).keys().eq(&site.urls()));
    let (most, again) = (site.most_at_once(), site.again());
    println!("{most} at the same moment, {again} again; {ran_out} leases ran out");
    assert!(ran_out > 0, "nothing is shown");
    assert!(most <= stripes + ran_out, "{most} at the same moment, and {ran_out} leases ran out");
    // Four requests were cut off in the killed process, and four other requests in the process that was told
    // to stop.
    assert!(again <= ran_out + 8, "{again} again, and {ran_out} leases ran out");
}

#[test]
#[ignore = "needs redis-server"]
fn a_site_has_one_request_at_a_time_from_four_processes() {
    a_site_that_allows(1, 400);
}

#[test]
#[ignore = "needs redis-server"]
fn a_site_has_as_many_requests_at_a_time_as_it_allows_from_four_processes() {
    a_site_that_allows(4, 2500);
}
