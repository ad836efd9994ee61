//! Tests of failures of a worker: it is killed, told to stop, or paused.

use super::engine::Engine;
use super::site::odd_site;
use super::{LEASE, Shared, is_complete, late, signal};
use crate::child::{crawl, ended, report};
use crawler::web::crawl::shared::print;
use std::time::Duration;

#[test]
#[ignore = "needs redis-server"]
fn a_page_whose_lease_runs_out_three_times_is_a_dead_letter() {
    let (engine, folder, (site, _)) = (Engine::start(), tempfile::tempdir().unwrap(), odd_site());
    let url = engine.url();
    let start = format!("http://127.0.0.1:{site}/");
    let mut command = crawl(folder.path(), &start, &["--allow-private", "--json", "--per-site", "8"]);
    command.args(["--frontier", &url, "--crawl", "test", "--lease", "1s", "--timeout", "5s"]);
    let (status, report) = report(&ended(command.spawn().unwrap()));
    assert_eq!(
        (status, &report["complete"], &report["failed"]),
        (Some(3), &true.into(), &1.into()),
        "{report}"
    );
    assert!(
        report["broken"][0]["why"].as_str().unwrap().starts_with("its lease ran out 3 times"),
        "{report}"
    );
    let late = "outcomes came when their leases had run out: they do not count";
    assert!(report["notes"][0].as_str().unwrap().ends_with(late), "{report}");
    let status = print(&url, "test").unwrap();
    assert!(
        status.contains(&format!("1 dead letters\n  {start}bad (its lease ran out 3 times)\n")),
        "{status}"
    );
}

#[test]
#[ignore = "needs redis-server"]
fn what_a_killed_process_had_is_fetched_by_another() {
    let shared = Shared::of(200, Duration::from_millis(10), 2);
    let flags = LEASE;
    let mut victim = shared.start(0, &flags);
    shared.until_asked(60);
    let other = shared.start(1, &flags);
    shared.until_asked(100);
    victim.kill().unwrap();
    victim.wait().unwrap();
    let late = late(&is_complete(&ended(other)));
    // The engine may have accepted records that the victim had not written before it died. The engine keeps
    // these records until a process has written them.
    is_complete(&ended(shared.start(0, &flags)));
    shared.assert_whole();
    assert!(
        shared.again() <= 4 + late,
        "{} pages, and {late} leases ran out besides the victim's",
        shared.again()
    );
}

#[test]
#[ignore = "needs redis-server"]
fn told_to_stop_a_process_gives_back_and_another_goes_on_at_once() {
    let shared = Shared::of(200, Duration::from_millis(10), 2);
    let first = shared.start(0, &["--lease", "60m"]);
    shared.until_asked(60);
    signal(&first, "-INT");
    assert_eq!(report(&ended(first)).0, Some(130));
    assert_eq!(shared.engine.say(&["ZCARD", "{test}:leases"]), ":0");
    is_complete(&ended(shared.start(1, &["--lease", "60m"])));
    shared.assert_whole();
}

#[test]
#[ignore = "needs redis-server"]
fn a_worker_that_comes_back_after_its_lease_changes_nothing() {
    let shared = Shared::of(200, Duration::from_millis(10), 2);
    let flags = LEASE;
    let stopped = shared.start(0, &flags);
    shared.until_asked(40);
    signal(&stopped, "-STOP");
    let mut late_in_all = late(&is_complete(&ended(shared.start(1, &flags))));
    signal(&stopped, "-CONT");
    late_in_all += late(&is_complete(&ended(stopped)));
    shared.assert_whole();
    assert!(shared.again() <= late_in_all, "{} pages, and {late_in_all} leases ran out", shared.again());
}
