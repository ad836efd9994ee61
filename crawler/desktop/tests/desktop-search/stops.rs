//! Checks that a run of `index` that was stopped or killed leaves a valid index, and that the next run
//! continues from there.

use crate::folder::{Folder, Indexed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A number of files that is too large for the queue. The pipe for the child's output gets a message for each
/// file, and cannot hold all messages.
const MANY: usize = 3000;

fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Starts a run that prints the name of each file that it indexes.
fn start(folder: &Folder, flags: &[&str]) -> (Child, BufReader<ChildStderr>) {
    let mut command = folder.program("index");
    let mut child =
        command.args(["tree", "--into", "index", "--verbose", "--json"]).args(flags).spawn().unwrap();
    let messages = BufReader::new(child.stderr.take().unwrap());
    (child, messages)
}

/// Waits until a child process blocks because the test does not read its messages, which do not fit into
/// the pipe. When the child blocks, its queue is full, and its walking thread waits for room in the queue.
/// A thread that can continue is not asleep, however busy the machine is.
#[cfg(target_os = "linux")]
fn until_it_halts(child: &Child) {
    let tasks = format!("/proc/{}/task", child.id());
    let is_asleep = |task: fs::DirEntry| {
        let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'))
    };
    let threads = || fs::read_dir(&tasks).unwrap().map(Result::unwrap).collect::<Vec<_>>();
    let begun = Instant::now();
    let mut looks = 0;
    while looks < 5 {
        assert!(begun.elapsed() < Duration::from_mins(1), "it does not come to a halt");
        thread::sleep(Duration::from_millis(20));
        // The threads of the child: the main thread, the threads that read, the thread that walks, and the
        // threads of the library.
        let threads = threads();
        looks = if threads.len() > 5 && threads.into_iter().all(is_asleep) { looks + 1 } else { 0 };
    }
}

#[cfg(target_os = "linux")]
#[test]
fn told_to_stop_it_indexes_what_is_queued_and_the_next_run_goes_on() {
    let folder = Folder::with_a_tree(MANY);
    folder.index(&[]);
    let all = folder.contents();
    // All files now have a different modification time, but the same words.
    folder.touch("2020-01-01");
    let (mut child, mut messages) = start(&folder, &[]);
    until_it_halts(&child);
    signal(&child, "-INT");
    // The signal must reach the child before the test reads the child's output, because reading the output
    // lets the child continue.
    let rest = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100)); // if this time is too short, more files are indexed
        let mut rest = String::new();
        messages.read_to_string(&mut rest).unwrap();
        rest
    });
    let mut report = String::new();
    child.stdout.take().unwrap().read_to_string(&mut report).unwrap();
    let status = child.wait().unwrap();
    let rest = rest.join().unwrap();
    assert_eq!(status.code(), Some(130), "{rest}");
    assert!(rest.contains("files that wait in the queue are still indexed"), "{rest}");
    let report: Value = serde_json::from_str(&report).unwrap();
    let indexed = usize::try_from(report["indexed"].as_u64().unwrap()).unwrap();
    assert_eq!((&report["complete"], &report["removed"]), (&false.into(), &0.into()));
    assert!(indexed >= 1000 + 500, "what was queued, and what was named before: {indexed}");
    assert!(indexed < MANY, "it walked on");
    // The index contains every file that the child named.
    assert_eq!(rest.lines().filter(|line| line.starts_with("indexed ")).count(), indexed);
    let now = folder.contents();
    assert_eq!(now.len(), all.len(), "what it has not seen may be there");
    assert_eq!(now.iter().filter(|(path, file)| all[*path] != **file).count(), indexed);
    let found = folder.run("search", &[], &["queue"]);
    assert!(String::from_utf8_lossy(&found.stderr).contains("incomplete"));

    let again = folder.index(&[]);
    assert_eq!((&again["unchanged"], &again["complete"]), (&indexed.into(), &true.into()));
    assert_eq!(again["indexed"], MANY + 2 - indexed);
    let found = folder.run("search", &[], &["queue"]);
    assert_eq!(String::from_utf8_lossy(&found.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn told_twice_it_ends_at_once() {
    let folder = Folder::with_a_tree(MANY);
    let (mut child, messages) = start(&folder, &[]);
    until_it_halts(&child);
    // The child can neither print nor continue, because the test does not read its output. Although its
    // output is blocked, the child still reacts to the second signal.
    signal(&child, "-TERM");
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "it does not end");
        thread::sleep(Duration::from_millis(20));
        signal(&child, "-TERM");
    };
    assert_eq!(status.code(), Some(143));
    drop(messages);
    assert_eq!(folder.index(&[])["complete"], true);
}

/// Returns the number of times that a process is killed; `CRAWLER_KILLS=100` runs the whole test.
fn kills() -> usize {
    env::var("CRAWLER_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(8)
}

/// Kills runs at random moments and lets new runs continue the work, until [`kills`] runs have been killed.
/// Whenever a run reaches its end, the index must equal the index of an undisturbed run.
#[cfg(unix)]
#[test]
fn killed_at_any_moment_it_goes_on_as_if_nothing_had_been() {
    let folder = Folder::with_a_tree(1500);
    let begun = Instant::now();
    folder.index(&[]);
    let whole = begun.elapsed();
    let undisturbed = folder.contents();
    let mut random = fastrand::Rng::with_seed(23);
    let (mut killed, mut uncommitted, mut ended) = (0, 0, 0);
    let flags = ["--commit-every", "100ms", "--threads", "2"];
    while killed < kills() || ended == 0 {
        let (mut child, messages) = start(&folder, &flags);
        let (first, begun) = mpsc::channel();
        let lines = thread::spawn(move || {
            let tell = |_: &String| {
                let _ = first.send(Instant::now());
            };
            messages.lines().map_while(Result::ok).inspect(tell).collect::<Vec<_>>()
        });
        // The child has indexed its first file, or has ended without indexing a file.
        let begun = begun.recv().unwrap_or_else(|_| Instant::now());
        let moment = if killed < kills() { whole.mul_f64(random.f64()) } else { Duration::from_mins(1) };
        let is_over = loop {
            if child.try_wait().unwrap().is_some() {
                break true;
            }
            if begun.elapsed() >= moment {
                break false;
            }
            thread::sleep(Duration::from_millis(1));
        };
        let _ = child.kill();
        let status = child.wait().unwrap();
        let lines = lines.join().unwrap();
        if is_over {
            assert_eq!(status.code(), Some(0), "{lines:?}");
            ended += 1;
            same(&folder.contents(), &undisturbed);
            fs::remove_dir_all(folder.path("index")).unwrap();
        } else if !status.success() {
            killed += 1;
            let last = lines.iter().rposition(|line| line.starts_with("committed "));
            let rest = &lines[last.map_or(0, |last| last + 1)..];
            uncommitted += usize::from(rest.iter().any(|line| line.starts_with("indexed ")));
        }
    }
    eprintln!(
        "{killed} killed, {uncommitted} of them with files that were not committed; {ended} came to their end"
    );
}

fn same(now: &BTreeMap<String, Indexed>, undisturbed: &BTreeMap<String, Indexed>) {
    assert_eq!(now.len(), undisturbed.len());
    for (path, indexed) in undisturbed {
        assert_eq!(now.get(path), Some(indexed), "{path}");
    }
}
