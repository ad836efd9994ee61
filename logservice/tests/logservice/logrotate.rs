//! Tests logs that the real `logrotate` moves away and compresses while threads log. The test runs only
//! with `.ci/run --all`:
//!
//! ```sh
//! cargo test -p logservice --test logservice -- --ignored logrotate::
//! ```

use crate::facades::in_own_process;
use crate::place::{LONG, Place};
use logservice::sink::FileSink;
use logservice::{Durability, Level, LogService};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{self, Command};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const ROTATIONS: usize = 40;
const WRITERS: usize = 4;

fn is_there() -> bool {
    let is_there = Command::new("logrotate").arg("--version").output().is_ok();
    if !is_there {
        println!("skipped: there is no logrotate");
    }
    is_there
}

/// Returns the package's own configuration, adapted to this log and this process, and changed so that each call
/// rotates.
fn shipped(log: &Path) -> String {
    let shipped = include_str!("../../logrotate.conf");
    let here = shipped.replace("/var/log/app.log", log.to_str().unwrap());
    let here = here.replace("pkill -HUP -x app", &format!("kill -HUP {}", process::id()));
    assert_ne!(here, shipped);
    here.replace("rotate 14", "rotate 1000").replace("daily", "size 1")
}

/// Runs services that append to one file, like several processes, while the file is rotated. Returns the
/// number of lines that each service has written.
///
/// The configuration demands that each service ends its present write between two rotations: a line in progress
/// may miss one rotation, but not two.
fn log_meanwhile(place: &Place, configuration: &str) -> Vec<u64> {
    fs::write(place.path("conf"), configuration).unwrap();
    let service = |_| {
        let sink = FileSink::builder(&place.log).unlocked().open().unwrap();
        let service = LogService::builder().start(sink).unwrap();
        service.reopen_on_hangup().unwrap();
        service
    };
    let services: Vec<_> = (0..WRITERS).map(service).collect();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for (writer, service) in services.iter().enumerate() {
            let is_over = &is_over;
            scope.spawn(move || {
                for number in 0u64.. {
                    service.say(Level::Info, "", format_args!("<{writer} {number}>")).unwrap();
                    if number % 8 == 0 {
                        thread::sleep(Duration::from_millis(1));
                    }
                    if is_over.load(Relaxed) {
                        return;
                    }
                }
            });
        }
        for _ in 0..ROTATIONS {
            let mut logrotate = Command::new("logrotate");
            let output =
                logrotate.arg("-fs").args([place.path("state"), place.path("conf")]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            for service in &services {
                service.flush(Durability::System, LONG).unwrap();
            }
        }
        is_over.store(true, Relaxed);
    });
    services.into_iter().map(|service| service.stop(LONG).written).collect()
}

/// Returns, for each line, how many times the line is in the files.
fn lines(place: &Place) -> BTreeMap<(usize, u64), usize> {
    let mut found = BTreeMap::new();
    for name in place.names().iter().filter(|name| name.starts_with("app.log")) {
        let text = if Path::new(name).extension().is_some_and(|end| end == "gz") {
            String::from_utf8(Command::new("gzip").arg("-dc").arg(place.path(name)).output().unwrap().stdout)
                .unwrap()
        } else {
            place.text(name)
        };
        // A service that opens the file in the middle of another service's write adds a line feed.
        for line in text.lines().filter(|line| !line.is_empty()) {
            let numbers = line.split_once('<').and_then(|(_, end)| end.strip_suffix('>')?.split_once(' '));
            let (writer, number) = numbers.unwrap_or_else(|| panic!("torn in {name}: {line:?}"));
            *found.entry((writer.parse().unwrap(), number.parse().unwrap())).or_default() += 1;
        }
    }
    found
}

/// Returns the number of missing lines and the number of written lines. Panics if a line is in the files
/// twice.
fn missing(place: &Place, written: &[u64]) -> (u64, u64) {
    let found = lines(place);
    assert!(found.values().all(|&times| times == 1), "a line is doubled");
    let all = written.iter().sum();
    (all, all - found.len() as u64)
}

in_own_process! {
    #[ignore = "needs logrotate"]
    by_the_configuration_that_is_shipped_no_line_is_lost
    {
        if is_there() {
            for (what, is_safe) in [("as it is", true), ("create", true), ("without a signal", true), ("at once", false)] {
                let place = Place::new();
                let conf = shipped(&place.log);
                let conf = match what {
                    "create" => conf.replace("    nocreate", "    create 0640"),
                    "without a signal" => conf.replace("kill -HUP", "true"),
                    "at once" => conf.replace("    delaycompress", ""),
                    _ => conf,
                };
                let written = log_meanwhile(&place, &conf);
                let (all, missing) = missing(&place, &written);
                println!("{what}: {missing} of {all} lines are missing after {ROTATIONS} rotations");
                assert!(missing == 0 || !is_safe);
            }
        }
    }
}
