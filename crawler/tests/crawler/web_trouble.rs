//! Checks that a crawl that is stopped, and a crawl with a faulty state, both end with a message and an
//! exit status, and lose no page.

use crate::child::{WATCHDOG, crawl, ended, report};
use crawler::web::crawl::keeper::IN_FLIGHT;
use crawler::web::crawl::state::{Changes, Progress, Record, State};
use crawler::web::demo::{Demo, DemoOptions};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn command(start: &str, folder: &Path, flags: &[&str]) -> Command {
    let mut command = crawl(folder, start, flags);
    command.arg("--json");
    command
}

/// Returns the message of a run that was refused.
fn refused(start: &str, folder: &Path, flags: &[&str]) -> String {
    let run = ended(command(start, folder, flags).spawn().unwrap());
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!((run.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn a_state_that_cannot_be_used_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (state, start) = (folder.path().join("state"), "http://127.0.0.1:9/");
    let flags = ["--allow-private"];
    let refused = || refused(start, folder.path(), &flags);

    let mine = State::open(&state).unwrap();
    assert!(refused().contains("another process is at work"));
    drop(mine);

    let whole = fs::read(&state).unwrap();
    for length in [whole.len() / 2, 100, 5] {
        fs::write(&state, &whole[..length]).unwrap();
        let said = refused();
        assert!(said.contains("damaged") || said.contains("state"), "{length} bytes: {said}");
    }
    fs::write(&state, "dear diary, ".repeat(1000)).unwrap();
    assert!(refused().contains("state"), "a letter");

    fs::remove_file(&state).unwrap();
    let database = redb::Database::create(&state).unwrap();
    let write = database.begin_write().unwrap();
    let table = redb::TableDefinition::<&str, &str>::new("about");
    write.open_table(table).unwrap().insert("format", "2").unwrap();
    write.commit().unwrap();
    drop(database);
    assert!(refused().contains("later version"));

    fs::remove_file(&state).unwrap();
    fs::create_dir(&state).unwrap();
    refused();
}

#[test]
fn a_command_line_that_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (start, flags, why) in [
        ("http://127.0.0.1:9/", &[][..], "--allow-private"),
        ("localhost:9", &[], "http://localhost:9/: the address is private"),
        ("http://a.localhost/", &[], "--allow-private"),
        ("http://[::1]/", &[], "--allow-private"),
        ("http://0x7f000001/", &[], "--allow-private"),
        ("http://2130706433/", &[], "--allow-private"),
        ("mailto:9a@example.org", &[], "mailto: is not crawled"),
        ("javascript:alert()", &[], "javascript: is not crawled"),
        ("example.org", &["--allow", "*.example.org"], "neither a host"),
        ("example.org", &["--not", "[a"], "unclosed character class"),
        ("example.org", &["--pages", "0"], "a number from 1 on"),
    ] {
        let run = ended(crawl(folder.path(), start, flags).spawn().unwrap());
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(2) && said.contains(why), "{start} {flags:?}: {said}");
        assert!(!folder.path().join("state").exists(), "nothing has been begun");
    }
}

#[test]
fn pages_of_a_server_that_is_not_there_wait_for_it() {
    for flags in [&[][..], &["--ignore-robots"]] {
        let folder = tempfile::tempdir().unwrap();
        let flags = [&["--allow-private", "--retries", "0", "--patience", "0"], flags].concat();
        let run = ended(command("http://127.0.0.1:9/", folder.path(), &flags).spawn().unwrap());
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let counts = (&report["failed"], &report["waiting"], &report["complete"]);
        assert_eq!((run.status.code(), counts), (Some(4), (&0.into(), &1.into(), &false.into())), "{report}");
    }
}

#[cfg(unix)]
#[test]
fn told_to_stop_it_goes_on_from_there() {
    let site =
        Demo::start(DemoOptions { pages: 400, delay: Duration::from_millis(5), ..DemoOptions::default() })
            .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = site.start_url().to_string();
    let flags = ["--allow-private", "--per-site", "4", "--threads", "4"];
    let child = command(&start, folder.path(), &flags).spawn().unwrap();
    assert!(site.wait_until(WATCHDOG, |requests, _| requests.len() > 50));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let run = ended(child);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((run.status.code(), &report["complete"]), (Some(130), &false.into()), "{said}");
    let run = ended(command(&start, folder.path(), &flags).spawn().unwrap());
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((run.status.code(), &report["waiting"]), (Some(0), &0.into()));
    assert_eq!(report["fetched"], site.pages().len());
    // On four threads, only the pages whose fetch was interrupted are requested twice.
    let mut asked = BTreeMap::<String, usize>::new();
    for request in site.requests() {
        *asked.entry(request.path).or_default() += 1;
    }
    let twice = asked.iter().filter(|(path, times)| **times > 1 && *path != "/robots.txt").count();
    assert!(twice <= 4, "{twice} pages were fetched twice");
}

/// A limit for the size of files has the same effect as a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_crawl_and_loses_nothing() {
    let site = Demo::start(DemoOptions { pages: 3000, ..DemoOptions::default() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = site.start_url().to_string();
    let crawl = env!("CARGO_BIN_EXE_crawl");
    let flags = "--state state --delay 0 --json --allow-private --per-site 8";
    let limited = format!("trap '' XFSZ; ulimit -f 3000; exec {crawl} {start} {flags}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = ended(shell.spawn().unwrap());
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot be written"), "{said}");
    let mut kept = 1; // robots.txt
    let state = State::open(&folder.path().join("state")).unwrap();
    let counted = state.each(|_, record| {
        kept += usize::from(record.progress != Progress::Waiting);
        Ok(())
    });
    counted.unwrap();
    drop(state);
    let asked = site.requests().len();
    assert!(asked - kept <= IN_FLIGHT, "{asked} were asked for, {kept} of them are kept");
    let run = ended(command(&start, folder.path(), &["--allow-private", "--per-site", "8"]).spawn().unwrap());
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((run.status.code(), &report["fetched"]), (Some(0), &site.pages().len().into()));
}

/// A reader that has closed its end of the pipe wants no more output, so a closed pipe is not an error. A
/// full disk is an error of the program. The program does not panic on a full disk or a closed pipe.
#[cfg(target_os = "linux")]
#[test]
fn output_that_nobody_takes_is_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let site = Demo::start(DemoOptions { pages: 5, ..DemoOptions::default() }).unwrap();
    for program in ["crawl", "crawl --json", "crawler orders", "crawler stops"] {
        let command = || match program.strip_prefix("crawler ") {
            None => crawl(folder.path(), site.start_url().as_str(), &["--allow-private", "--per-site", "8"]),
            Some(topic) => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_crawler"));
                command.arg(topic).stderr(Stdio::piped());
                command
            }
        };
        let flag = program.strip_prefix("crawl ").into_iter();
        let closed = io::pipe().unwrap().1;
        let run = ended(command().args(flag.clone()).stdout(closed).spawn().unwrap());
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!((run.status.code(), &*said), (Some(0), ""), "{program}");

        let full = || File::options().write(true).open("/dev/full").unwrap();
        let run = ended(command().args(flag.clone()).stdout(full()).spawn().unwrap());
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!((run.status.code(), said.lines().count()), (Some(1), 1), "{program}: {said}");
        assert!(said.contains("the output cannot be written"), "{program}: {said}");

        let run = ended(command().args(flag).stdout(full()).stderr(full()).spawn().unwrap());
        assert_eq!(run.status.code(), Some(1), "{program}: standard error is full, too");
    }
}

/// Changes some bytes of the file.
#[test]
fn a_damaged_state_is_refused_or_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let record = |number: usize| Record {
        progress: Progress::Fetched,
        status: Some(200),
        links: (1..9).map(|link| format!("http://example.org/{}", number * link)).collect(),
        ..Record::waiting(1)
    };
    let pages: BTreeMap<_, _> =
        (0..150).map(|number| (format!("http://example.org/{number}"), record(number))).collect();
    let state = State::open(&path).unwrap();
    let over = pages.iter().map(|(url, record)| (url.as_str().into(), record.clone())).collect();
    state.commit(&Changes { over, ..Changes::default() }).unwrap();
    drop(state);

    let whole = fs::read(&path).unwrap();
    let used = |at: &usize| whole[at / 4096 * 4096..][..4096].iter().any(|byte| *byte != 0);
    let mut random = fastrand::Rng::with_seed(11);
    let (mut refused, mut same) = (0, 0);
    let blocks = (0..whole.len()).step_by(4096).filter(used);
    for at in blocks.flat_map(|block| [block + random.usize(..128), block + random.usize(..4096)]) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&path, damaged).unwrap();
        let mut read = BTreeMap::new();
        let opened = State::open(&path).and_then(|state| {
            state.each(|url, record| {
                read.insert(url.to_owned(), record);
                Ok(())
            })
        });
        match opened {
            Ok(()) => {
                assert_eq!(read, pages, "byte {at}");
                same += 1;
            }
            Err(error) => {
                assert!(error.to_string().contains("damaged"), "byte {at}: {error:#}");
                refused += 1;
            }
        }
    }
    assert!(refused > 20, "{refused} refused, {same} not");
}

/// Returns the report of a finished crawl, as JSON and as text. The function sends no request to any site.
fn reports(pages: &[(String, Record)], flags: &[&str]) -> (serde_json::Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let state = State::open(&folder.path().join("state")).unwrap();
    let over = pages.iter().map(|(url, record)| (url.as_str().into(), record.clone())).collect();
    state.commit(&Changes { over, ..Changes::default() }).unwrap();
    drop(state);
    let run = |more: &[&str]| {
        let flags = [&["--allow-private"], flags, more].concat();
        ended(crawl(folder.path(), "http://127.0.0.1:9/0", &flags).spawn().unwrap())
    };
    (report(&run(&["--json"])).1, String::from_utf8(run(&[]).stdout).unwrap())
}

fn fetched(page: usize, links: &[&str]) -> (String, Record) {
    let links = links.iter().map(|link| format!("http://127.0.0.1:9/{link}")).collect();
    let record = Record { progress: Progress::Fetched, status: Some(200), links, ..Record::waiting(0) };
    (format!("http://127.0.0.1:9/{page}"), record)
}

/// Checks the report of a site with the same broken link on every page.
#[test]
fn a_few_of_many_pages_with_a_broken_link_are_named() {
    let mut pages: Vec<_> = (0..1000).map(|page| fetched(page, &["1000"])).collect();
    pages.push(fetched(1000, &[]));
    pages[1000].1.status = Some(404);
    let (json, text) = reports(&pages, &[]);
    let broken = &json["broken"][0];
    assert_eq!((&broken["links"], broken["linked_from"].as_array().unwrap().len()), (&1000.into(), 5));
    assert!(text.contains("/1000: status 404\n  on http://127.0.0.1:9/0\n"), "{text}");
    assert!(text.contains("  and 995 more\n"), "{text}");
}

#[test]
fn what_is_not_saved_or_not_whole_is_said() {
    let mut pages: Vec<_> = (0..20).map(|page| fetched(page, &[])).collect();
    pages[0].1.is_truncated = true;
    pages[1..].iter_mut().for_each(|(_, page)| page.copy_of = Some("http://127.0.0.1:9/0".to_owned()));
    let (json, text) = reports(&pages, &["--save", "pages"]);
    assert_eq!(
        (&json["truncated"], &json["truncated_pages"][0], &json["copies"]),
        (&1.into(), &"http://127.0.0.1:9/0".into(), &19.into())
    );
    assert!(
        text.contains("their files are cut there:\n  http://127.0.0.1:9/0\n19 pages are not saved"),
        "{text}"
    );
    let (_, text) = reports(&pages, &[]);
    assert!(
        text.contains("behind that are not known:\n  http://127.0.0.1:9/0\n") && !text.contains("saved"),
        "{text}"
    );
}

/// The crawl is complete, and its report does not depend on the files.
#[cfg(target_os = "linux")]
#[test]
fn a_graph_that_cannot_be_written_leaves_a_report_and_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let site = Demo::start(DemoOptions { pages: 300, ..DemoOptions::default() }).unwrap();
    let start = site.start_url().to_string();
    let flags = ["--allow-private", "--per-site", "8"];
    assert_eq!(report(&ended(command(&start, folder.path(), &flags).spawn().unwrap())).0, Some(0));
    std::os::unix::fs::symlink("/dev/full", folder.path().join("graph.new")).unwrap();
    let run = command(&start, folder.path(), &flags).args(["--graph", "graph"]).spawn();
    let run = ended(run.unwrap());
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(said.contains("graph cannot be written: No space left"), "{said}");
    let (status, report) = report(&run);
    assert_eq!((status, &report["complete"]), (Some(1), &true.into()), "{said}");
    let left = |name: &str| folder.path().join(name).symlink_metadata().is_ok();
    assert_eq!(["graph", "graph.new"].map(left), [false, false]);
}
