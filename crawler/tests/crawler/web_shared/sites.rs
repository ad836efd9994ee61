//! Checks that many processes send a site the same requests as one process.

use super::engine::Engine;
use super::site::odd_site;
use super::{Shared, all_are_complete, records};
use crate::child::{crawl, ended, report};
use crawler::web::crawl::state::{Progress, Record};
use crawler::web::demo::{Demo, DemoOptions};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
#[ignore = "needs redis-server"]
fn four_processes_share_a_site() {
    let shared = Shared::of(300, Duration::from_millis(5), 4);
    let children: Vec<_> = (0..4).map(|process| shared.start(process, &[])).collect();
    all_are_complete(children);
    shared.assert_whole();
    shared.assert_fetched_once();
    assert!(shared.site.requests().iter().filter(|request| request.path == "/robots.txt").count() == 1);
}

#[test]
#[ignore = "needs redis-server"]
fn a_site_has_its_delay_from_all_of_them_together() {
    let shared = Shared::of(12, Duration::ZERO, 3);
    let flags = ["--delay", "50ms"];
    let children: Vec<_> = (0..3)
        .map(|process| {
            let url = shared.engine.url();
            let mut command = Command::new(env!("CARGO_BIN_EXE_crawl"));
            command.args([shared.site.start_url().as_str(), "--state", "state", "--allow-private", "--json"]);
            command.args(["--frontier", &url, "--crawl", "test"]).args(flags);
            command.current_dir(shared.folders[process].path()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    all_are_complete(children);
    shared.assert_whole();
    let requests = shared.site.requests();
    for pair in requests.windows(2) {
        let pause = pair[1].began.abs_diff(pair[0].began);
        assert!(
            pause >= Duration::from_millis(49),
            "{pause:?} between {} and {}",
            pair[0].path,
            pair[1].path
        );
    }
}

#[test]
#[ignore = "needs redis-server"]
fn what_sites_do_to_one_process_they_do_to_three() {
    let mut shared = Shared::of(40, Duration::ZERO, 3);
    shared.site = Demo::start(DemoOptions { pages: 40, traps: true, ..DemoOptions::default() }).unwrap();
    let flags = ["--pages", "600", "--depth", "12", "--timeout", "3s", "--max-bytes", "300000"];
    let children: Vec<_> = (0..3).map(|process| shared.start(process, &flags)).collect();
    for child in children {
        let (status, report) = report(&ended(child));
        assert!(matches!(status, Some(0 | 3)), "{report}");
        assert_eq!(report["complete"], true, "{report}");
    }
    let is_kept = |record: &Record| {
        record.progress == Progress::Fetched && record.status == Some(200) && record.copy_of.is_none()
    };
    let records = records(&shared.folders);
    let kept: BTreeSet<_> =
        records.iter().filter(|(_, record)| is_kept(record)).map(|(url, _)| url.clone()).collect();
    let pages = shared.site.pages();
    let missing: Vec<_> = pages.difference(&kept).collect();
    let more: Vec<_> = kept.difference(&pages).filter(|url| !shared.site.is_loose(url)).collect();
    assert_eq!((missing, more), (vec![], vec![]));
    assert_eq!(shared.engine.say(&["HINCRBY", "{test}:about", "over", "0"]), format!(":{}", records.len()));
    for request in shared.site.requests() {
        let url = shared.site.url(&request.path);
        assert!(!shared.site.is_forbidden(url.as_str()), "{url} is forbidden");
    }
}

#[test]
#[ignore = "needs redis-server"]
fn a_site_that_asks_for_a_rest_has_it_from_the_next_run_too() {
    let (engine, folder, (site, count)) = (Engine::start(), tempfile::tempdir().unwrap(), odd_site());
    let (url, start) = (engine.url(), format!("http://127.0.0.1:{site}/busy"));
    let run = || {
        let mut command = crawl(folder.path(), &start, &["--allow-private", "--json", "--patience", "1m"]);
        report(&ended(command.args(["--frontier", &url, "--crawl", "test"]).spawn().unwrap()))
    };
    let (status, report) = run();
    assert_eq!((status, &report["waiting"]), (Some(4), &1.into()), "{report}");
    assert!(report["notes"][0].as_str().unwrap().contains("it asks for a rest of 3600 s"), "{report}");
    let before = count.load(Ordering::Relaxed);
    assert_eq!(run().0, Some(4));
    assert_eq!(count.load(Ordering::Relaxed), before);
}
