//! Tests counts, latencies, rates, and the printed output.

use super::{Serving, load, number, run};
use crate::fixture::{Project, stderr, stdout};
use serde_json::{Value, json};
use servers::Limits;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// This time limit is much longer than the loads need, because each load ends after a number of requests.
const LONG: [&str; 2] = ["--duration", "60s"];

fn with<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    [flags, &LONG].concat()
}

#[test]
fn makes_exactly_the_requests_it_was_told_to() {
    for flags in
        [&["-c", "8"][..], &["-c", "8", "--no-keep-alive"], &["-c", "7", "--pipeline", "16"], &["-c", "1"]]
    {
        let serving = Serving::start();
        let run = run(&serving.url(), &with(&[flags, &["-n", "501"]].concat()));
        assert_eq!(serving.count(), 501, "{flags:?}");
        assert_eq!(
            (number(&run, "/answered"), number(&run, "/succeeded"), number(&run, "/failed")),
            (501, 501, 0),
            "{run}"
        );
        assert_eq!(run["statuses"], json!({ "200": 501 }));
    }
}

#[test]
fn stops_when_the_time_is_over() {
    let serving = Serving::start();
    let start = Instant::now();
    let run = run(&serving.url(), &["-c", "2", "--duration", "300ms"]);
    assert!(start.elapsed() < Duration::from_secs(20));
    let (elapsed, rate) = (run["elapsed_s"].as_f64().unwrap(), run["per_second"].as_f64().unwrap());
    assert!(elapsed >= 0.3, "{run}");
    assert_eq!(number(&run, "/answered"), serving.count());
    assert!((rate * elapsed - serving.count() as f64).abs() < 1.0, "{run}");
}

#[test]
fn latencies_are_those_of_the_server() {
    // The work whose time is measured. The work may take longer than the requested time, so the test asserts
    // only lower bounds.
    let serving = Serving::with(Limits::default(), |_| thread::sleep(Duration::from_millis(30)));
    let run = run(&serving.url(), &with(&["-c", "4", "-n", "40"]));
    let latency = |name: &str| number(&run, &format!("/latency_us/{name}"));
    assert!(latency("min") >= 30_000, "{run}");
    let rising: Vec<_> = ["min", "p50", "p90", "p99", "p999", "max"].map(latency).into();
    assert!(rising.is_sorted(), "{run}");
    // There are ten rounds of 30 ms each.
    assert!(run["elapsed_s"].as_f64().unwrap() >= 0.3, "{run}");
}

/// Returns a server that stalls once: the 41st request and all later ones wait until 300 ms have passed. It
/// does no harm if the requests wait longer.
fn stalling_once() -> Serving {
    let stall = Mutex::new(None);
    Serving::with(Limits::default(), move |before| {
        let mut until = *stall.lock().unwrap();
        if before == 40 {
            until = Some(Instant::now() + Duration::from_millis(300));
            *stall.lock().unwrap() = until;
        }
        if let Some(until) = until {
            thread::sleep(until.saturating_duration_since(Instant::now()));
        }
    })
}

#[test]
fn with_a_rate_everybody_who_would_have_met_a_stall_counts() {
    let serving = stalling_once();
    let run = run(&serving.url(), &with(&["-c", "4", "--rate", "200", "-n", "200"]));
    assert!(number(&run, "/latency_us/max") >= 300_000, "{run}");
    // 60 of the 200 requests are due during the stall: two thirds of these 60 wait for more than
    // 100 ms.
    assert!(number(&run, "/latency_us/p90") >= 100_000, "{run}");
    assert_eq!((number(&run, "/answered"), number(&run, "/never_sent")), (200, 0));
    assert!(run["elapsed_s"].as_f64().unwrap() >= 0.99, "no faster than the rate: {run}");
}

#[test]
fn without_a_rate_a_stall_is_seen_by_those_only_who_were_waiting() {
    let serving = stalling_once();
    let run = run(&serving.url(), &with(&["-c", "4", "-n", "200"]));
    assert!(number(&run, "/latency_us/max") >= 290_000, "{run}");
    assert!(number(&run, "/latency_us/p90") < 100_000, "{run}");
}

#[test]
fn each_of_several_rates_has_a_run_of_its_own() {
    let serving = Serving::start();
    let output = load(&serving.url(), &with(&["-c", "2", "--rate", "1000,40", "-n", "5", "--json"]));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["runs"][0]["rate"], &report["runs"][1]["rate"]), (&json!(1000.0), &json!(40.0)));
    // The fifth request is due after 100 ms.
    assert!(report["runs"][1]["elapsed_s"].as_f64().unwrap() >= 0.099, "{report}");
    assert_eq!(serving.count(), 10);
}

#[test]
fn requests_that_were_due_and_never_sent_are_told() {
    // At most three requests can be answered; on a slow machine it may be fewer.
    let serving = Serving::with(Limits::default(), |_| thread::sleep(Duration::from_millis(200)));
    let flags = ["-c", "1", "--rate", "100", "--duration", "500ms"];
    let run = run(&serving.url(), &flags);
    let (answered, never_sent) = (number(&run, "/answered"), number(&run, "/never_sent"));
    assert_eq!(answered + never_sent, 50, "{run}");
    assert!(never_sent >= 40, "{run}");
    assert!(stdout(&load(&serving.url(), &flags)).contains("NOT SENT"));
}

#[test]
fn the_report_says_what_was_asked_and_what_came() {
    let serving = Serving::start();
    let output = load(&serving.url(), &with(&["-c", "3", "-n", "30", "--json"]));
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["plan"]["connections"], json!([3]));
    assert_eq!(report["plan"]["duration_s"], 60.0);
    let run = report["runs"][0].as_object().unwrap();
    let mut names: Vec<_> = run.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "answered",
            "bytes",
            "connections",
            "elapsed_s",
            "failed",
            "failures",
            "interrupted",
            "latency_us",
            "never_sent",
            "per_second",
            "rate",
            "remark",
            "rude",
            "sent_again",
            "server_cpu_us_per_answer",
            "server_memory_kib",
            "stage",
            "statuses",
            "succeeded",
            "url",
        ]
    );
    assert_eq!((&run["url"], &run["interrupted"]), (&json!(serving.url()), &json!(false)));

    let text = stdout(&load(&serving.url(), &with(&["-c", "3", "-n", "30"])));
    for expected in ["3 connections, kept alive", "answers    30, below 400: 30", "latency    p50"] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn wrong_usage_is_refused_with_the_reason() {
    for (arguments, reason) in [
        (&["load"][..], "required"),
        (&["load", "http://127.0.0.1:1/", "--stages", "pooled"], "cannot be used with"),
        (&["load", "http://127.0.0.1:1/", "-c", "0"], "from 1 to"),
        (&["load", "http://127.0.0.1:1/", "--rate", "0"], "from 0.1"),
        (&["load", "http://127.0.0.1:1/", "--rate", "NaN"], "from 0.1"),
        (&["load", "http://127.0.0.1:1/", "--rate", "1,2", "-c", "1,2"], "one number below it"),
        (&["load", "http://127.0.0.1:1/", "--duration", "10"], "expected a time"),
        (&["load", "http://127.0.0.1:1/", "--pipeline", "2", "--no-keep-alive"], "cannot be used with"),
        (&["load", "http://127.0.0.1:1/", "--rude", "loud=1"], "the kinds are silent, half, garbage"),
        (&["load", "http://127.0.0.1:1/", "--rude", "silent=1999"], "more than 2000"),
        (&["load", "http://192.0.2.1/"], "--allow-remote"),
        (&["load", "https://127.0.0.1/"], "only http://"),
        (&["load", "http://127.0.0.1:1/", "--svg", "/no/such/directory/x.svg"], "/no/such/directory"),
        (&["load", "--stages", "no_such_stage"], "there is no stage \"no_such_stage\""),
    ] {
        let output = Project::new().course(arguments).output().unwrap();
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}");
        assert!(stderr(&output).contains(reason), "{arguments:?}: {}", stderr(&output));
    }
}
