//! Tests that the lines that stages write to standard error are in a file after the run, and that no stage
//! waits until the lines are written.

use super::Serving;
use super::stages::{DONE, Stages};
use crate::fixture::stderr;
use logservice::sink::FileSink;
use std::fs;

const LOG: &str = "target/course/log/stages.log";

/// Runs a load on a stage that runs the shell code `before` before it prints its address.
fn load(stages: &Stages, serving: &Serving, before: &str) -> String {
    let address = format!("echo listening on http://{}/", serving.addr);
    stages.stage("one", &format!("{before}\n{address}\necho the last word >&2\nexec sleep 600"));
    let output = stages.load(&["--stages", "one", "--path", "/counted", "-n", "20"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(serving.count(), 20);
    stderr(&output)
}

fn line<'a>(log: &'a str, said: &str) -> &'a str {
    let mut lines = log.lines().filter(|line| line.contains(said));
    let line = lines.next().unwrap_or_else(|| panic!("no {said} in {log}"));
    assert_eq!(lines.next(), None, "{said} twice");
    line
}

#[test]
fn what_a_stage_says_is_in_the_log_afterwards() {
    let (serving, stages) = (Serving::start(), Stages::new(DONE));
    load(&stages, &serving, "echo \"thread 'main' panicked\" >&2; printf 'and \\033[31mred' >&2; echo >&2");
    let log = stages.read(LOG);
    for said in ["thread 'main' panicked", "listens on ", "the last word"] {
        let line = line(&log, said);
        assert!(line.contains(" course::stage ") && line.contains("stage=one"), "{line}");
    }
    assert!(!log.contains('\u{1b}'), "a stage writes to the reader's terminal: {log}");
    assert!(line(&log, "and ").contains("red"));
}

#[test]
fn the_log_of_the_next_run_is_behind_it() {
    let (serving, stages) = (Serving::start(), Stages::new(DONE));
    load(&stages, &serving, "echo the first >&2");
    let (serving, before) = (Serving::start(), stages.read(LOG));
    load(&stages, &serving, "echo the second >&2");
    let log = stages.read(LOG);
    assert!(log.starts_with(&before) && before.contains("the first") && log.contains("the second"), "{log}");
}

/// If no thread read this output, the stage could not print its address in time.
#[test]
fn a_flood_of_lines_does_not_block_a_stage() {
    let (serving, stages) = (Serving::start(), Stages::new(DONE));
    load(&stages, &serving, "yes 'much ado' | head -n 100000 >&2");
    let log = stages.read(LOG) + &fs::read_to_string(stages.path("target/course/log/stages.log.1")).unwrap();
    assert!(log.contains("much ado"), "{log}");
}

#[test]
fn where_another_process_has_the_log_there_is_a_second_one() {
    let (serving, stages) = (Serving::start(), Stages::new(DONE));
    fs::create_dir_all(stages.path("target/course/log")).unwrap();
    let held = FileSink::builder(stages.path(LOG)).open().unwrap();
    load(&stages, &serving, "echo the second >&2");
    line(&stages.read("target/course/log/stages-2.log"), "the second");
    assert_eq!(stages.read(LOG), "");
    drop(held);
}

#[test]
fn a_log_that_cannot_be_written_is_told_and_no_failure() {
    let (serving, stages) = (Serving::start(), Stages::new(DONE));
    stages.project.write("target/course", "a file, where a folder has to be");
    let said = load(&stages, &serving, "echo unheard >&2");
    assert!(said.contains("no log is written this time: ") && said.contains("target/course/log"), "{said}");
}
