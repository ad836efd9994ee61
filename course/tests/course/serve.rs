//! Tests `cargo course` from the printing of the address to the last answer.

use crate::fixture::{Project, stderr};
use crate::running::Running;
use std::net::TcpListener;

#[test]
fn the_printed_address_serves_the_book() {
    let course = Running::start(Project::new(), &["--addr", "127.0.0.1:0"]);
    let front = course.get("/");
    assert!(front.starts_with("HTTP/1.1 200 "), "{front}");
    assert!(front.contains("First"), "{front}");
    assert!(course.get("/second.html").contains("fn main() {}"));

    let style = linked(&front, "css/general-", ".css");
    assert!(course.get(&style).to_lowercase().contains("content-type: text/css"), "{style}");
    let searcher = linked(&front, "searcher-", ".js");
    assert!(course.get(&searcher).starts_with("HTTP/1.1 200 "), "{searcher}");
    assert!(course.get("/no-such-page.html").starts_with("HTTP/1.1 404 "));
    assert!(course.get("/panic").starts_with("HTTP/1.1 404 "), "that is for the stages");
}

#[test]
fn answers_are_in_the_log_and_not_on_the_terminal() {
    let course = Running::start(Project::new(), &["--addr", "127.0.0.1:0"]);
    assert!(course.get("/second.html?logged").starts_with("HTTP/1.1 200 "));
    course.wait_for_file("target/course/log/course.log", "GET /second.html?logged HTTP/1.1");
    assert!(!course.said().any(|line| line.contains("/second.html")));
}

/// Returns the address by which a page refers to a file; mdBook adds a hash to the name of such a file.
fn linked(page: &str, start: &str, end: &str) -> String {
    let from = page.find(start).unwrap_or_else(|| panic!("no {start} in {page}"));
    let length = page[from..].find(end).unwrap() + end.len();
    format!("/{}", &page[from..from + length])
}

#[test]
fn the_search_index_is_served() {
    let course = Running::start(Project::new(), &["--addr", "127.0.0.1:0"]);
    let index = std::fs::read_dir(course.project.path("target/book"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .find(|name| name.starts_with("searchindex"))
        .unwrap();
    assert!(course.get(&format!("/{index}")).contains("second.html"));
}

#[test]
fn the_schedule_of_the_last_failed_check_is_served() {
    let course = Running::start(Project::new(), &["--addr", "127.0.0.1:0"]);
    let served = || course.get("/your-schedule.json");
    let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.trim().to_owned();
    let none = served();
    assert!(none.starts_with("HTTP/1.1 200 ") && body(&none) == "{}", "{none}");
    for text in [r#"{"file":"a.rs"}"#, r#"{"file":"b.rs"}"#] {
        course.project.write("target/course/your-schedule.json", text);
        assert_eq!(body(&served()), text);
    }
    let strange = course.get_for("rebound.example", "/your-schedule.json");
    assert!(strange.starts_with("HTTP/1.1 421 "), "{strange}");
}

#[test]
#[cfg(target_os = "linux")]
fn other_machines_do_not_get_the_schedule() {
    let course = Running::start(Project::new(), &["--addr", "0.0.0.0:0"]);
    course.project.write("target/course/your-schedule.json", "{}");
    assert!(course.get("/your-schedule.json").starts_with("HTTP/1.1 404 "));
}

#[test]
fn a_page_of_another_name_learns_nothing_unless_it_was_given() {
    let flags = ["--addr", "127.0.0.1:0", "--host", "course.example"];
    let course = Running::start(Project::new(), &flags);
    for (host, status) in [("rebound.example", "421"), ("course.example", "200"), ("localhost", "200")] {
        assert!(course.get_for(host, "/").starts_with(&format!("HTTP/1.1 {status} ")), "{host}");
    }
}

#[test]
fn without_an_address_a_taken_port_is_passed_over() {
    // Port 8000 is in use, by this test or by another process, so the course must choose another
    // port.
    let _taken = TcpListener::bind("127.0.0.1:8000");
    let course = Running::start(Project::new(), &[]);
    assert_ne!(course.port(), 8000);
    assert!(course.get("/").starts_with("HTTP/1.1 200 "));
}

#[test]
fn an_address_that_is_taken_is_an_error_that_says_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let output = Project::new().course(&["--addr", &addr]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let complaint = stderr(&output);
    assert!(complaint.contains(&addr) && complaint.contains("choose another port"), "{complaint}");
}

#[test]
fn a_broken_book_is_not_served() {
    let project = Project::new();
    project.write("code.rs", "");
    let output = project.course(&["serve", "--addr", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(stderr(&output).contains("anchor `main` does not exist"), "{}", stderr(&output));
}

#[cfg(unix)]
mod signals {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_signal_ends_it_in_order_though_a_browser_keeps_a_connection_open() {
        for signal in ["INT", "TERM"] {
            let mut course = Running::start(Project::new(), &["--addr", "127.0.0.1:0"]);
            let _idle = course.get_and_stay("/hello");
            let asked = Instant::now();
            course.signal(signal);
            assert_eq!(course.wait().code(), Some(0), "{signal}");
            // Without another waiting client, the connection would have stayed open for 30 seconds.
            assert!(asked.elapsed() < Duration::from_secs(15), "{signal}: {:?}", asked.elapsed());
        }
    }

    #[test]
    fn a_request_in_progress_is_finished() {
        let mut course = Running::start(Project::new(), &["--addr", "127.0.0.1:0"]);
        let slow = course.start_get("/block?ms=700");
        course.wait_until_active(2); // the slow client, and the client that asks
        course.signal("INT");
        assert!(Running::answer(slow).starts_with("HTTP/1.1 200 "));
        assert_eq!(course.wait().code(), Some(0));
    }

    #[test]
    fn it_says_what_it_waits_for_and_a_second_signal_ends_it_at_once() {
        let mut course = Running::start(Project::new(), &["--addr", "127.0.0.1:0"]);
        let _slow = course.start_get("/block?ms=60000");
        course.wait_until_active(2);
        course.signal("INT");
        course.wait_for_line("waiting for connections that are being answered: 1");
        course.signal("INT");
        assert_eq!(course.wait().code(), Some(130));
    }
}
