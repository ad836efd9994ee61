//! Tests what a stage reports about itself: at `/stats` and `/metrics`, and, with `--watch`, even while all
//! its threads are busy.

use crate::command_line::assert_fails;
use crate::support::{
    BOUNDED, Client, DEADLINE, ENDLESS, EVENT_LOOPS, MULTI_REACTOR, POOLED, REACTOR, SINGLE_THREADED, STAGES,
    STOPPING_STAGES, Stage, THREAD_PER_TASK, eventually, every_stage,
};
use serde_json::{Value, json};
use servers::stats::{TEXT_TYPE, families};
use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

/// Returns the address that the second line of output announces.
fn watch_addr(stage: &Stage) -> SocketAddr {
    let line = stage.output_line();
    let addr = line.strip_prefix("watch on http://").and_then(|addr| addr.strip_suffix('/'));
    addr.unwrap_or_else(|| panic!("{line}")).parse().unwrap()
}

fn stats_of(mut client: Client) -> Value {
    let reply = client.get("/stats");
    assert_eq!(reply.header("Content-Type"), Some("application/json"));
    serde_json::from_slice(&reply.body).unwrap()
}

fn watched(addr: SocketAddr) -> Value {
    stats_of(Client::connect(addr))
}

/// Returns the values of `/metrics`, by their names and labels as written. Fails if the text does not
/// follow the format of Prometheus.
fn metrics(mut client: Client) -> HashMap<String, String> {
    let reply = client.get("/metrics");
    assert_eq!((reply.status, reply.header("Content-Type")), (200, Some(TEXT_TYPE)));
    let (mut values, mut family) = (HashMap::new(), String::new());
    let mut lines = reply.text().strip_suffix('\n').expect("the last line ends, too").lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').unwrap();
            let kind =
                lines.next().unwrap().strip_prefix(&format!("# TYPE {name} ")).expect("the type of it");
            assert!(!text.is_empty() && ["counter", "gauge"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            assert!(!values.keys().any(|key: &String| name_of(key) == name), "{name} comes in two places");
            name.clone_into(&mut family);
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').unwrap();
        assert_eq!(name_of(sample), family, "{line}");
        assert!(sample == family || are_labels(&sample[family.len()..]), "{line}");
        value.parse::<f64>().unwrap();
        let twice = values.insert(sample.to_owned(), value.to_owned());
        assert_eq!(twice, None, "{line}");
    }
    values
}

fn name_of(sample: &str) -> &str {
    sample.split_once('{').map_or(sample, |(name, _)| name)
}

/// Returns whether the text is a list of labels such as `{a="b",c="d"}`; in these tests no value contains a
/// quotation mark.
fn are_labels(text: &str) -> bool {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let is_label = |label: &str| {
        let value = label.split_once("=\"").and_then(|(name, value)| {
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_').then_some(value)
        });
        value
            .and_then(|value| value.strip_suffix('"'))
            .is_some_and(|value| !value.contains(['"', '\\', '\n']))
    };
    inner.is_some_and(|inner| inner.split(',').all(is_label))
}

/// With these flags, two requests keep both threads busy, so the stage itself cannot answer a request.
const SATURATED: [&str; 7] =
    ["--quiet", "--watch", "127.0.0.1:0", "--threads", "2", "--header-timeout", "10m"];

#[test]
fn a_stage_whose_threads_are_all_busy_is_watched_all_the_same() {
    every_stage(&SATURATED, |stage| {
        let watch = watch_addr(stage);
        let clients = if stage.binary == SINGLE_THREADED { 1 } else { 2 };
        let busy: Vec<_> = (0..clients).map(|_| stage.ask(ENDLESS)).collect();
        let doing = |stats: &Value| {
            let rows = stats["serving"].as_array().unwrap();
            rows.iter().filter(|row| row["request"] == "GET /block?ms=60000").count()
        };
        eventually("the threads do not show what they do", || doing(&watched(watch)) == clients);
        let stats = watched(watch);
        assert_eq!(stats["server"]["stage"], Path::new(stage.binary).file_name().unwrap().to_str().unwrap());
        assert_eq!(stats["server"]["connections"], clients);
        assert_eq!(stats["server"]["accepted"], clients);
        let client = busy[0].stream.local_addr().unwrap().to_string();
        let row = stats["serving"].as_array().unwrap().iter().find(|row| row["client"] == client).unwrap();
        assert!(row["seconds"].as_f64().unwrap() < DEADLINE.as_secs_f64(), "{row}");
        if stats["pool"].is_object() {
            assert_eq!(
                (&stats["pool"]["active"], &stats["pool"]["threads"]),
                (&2.into(), &2.into()),
                "{stats}"
            );
        }
        let metrics = metrics(Client::connect(watch));
        assert_eq!(metrics["http_server_connections"], clients.to_string());
        if cfg!(target_os = "linux") {
            let value = |name: &str| metrics[name].parse::<f64>().unwrap();
            assert!(value("process_threads") >= 2.0 && value("process_open_fds") > 5.0, "{metrics:?}");
            assert!(value("process_resident_memory_bytes") > 1e6, "{metrics:?}");
        }
    });
}

#[test]
fn json_and_text_say_the_same() {
    every_stage(&["--threads", "3", "--quiet", "--watch", "127.0.0.1:0"], |stage| {
        assert_eq!(stage.get("/hello").status, 200);
        assert_eq!(stage.get("/nothing").status, 404);
        let watch = watch_addr(stage);
        eventually("something goes on", || {
            let stats = watched(watch);
            stats["server"]["connections"] == 0 && stats["pool"]["active"].as_u64().unwrap_or(0) == 0
        });
        // From now on, two measurements differ only in the resources of the process.
        let (stats, metrics) = (watched(watch), metrics(Client::connect(watch)));
        let mut compared = 0;
        for family in families().filter(|family| !family.group.is_empty() && family.group != "process") {
            match (&stats[family.group][family.key], family.label) {
                (Value::Null, _) => {
                    assert!(!metrics.keys().any(|key| name_of(key) == family.name), "{family:?}");
                }
                (Value::String(word), _) => {
                    assert_eq!(metrics[&format!("{}{{{}=\"{word}\"}}", family.name, family.key)], "1");
                }
                (Value::Object(values), label) => {
                    for (of, value) in values {
                        let key = format!("{}{{{label}=\"{of}\"}}", family.name);
                        assert_eq!(value.to_string(), metrics[&key], "{key}");
                    }
                }
                (value, _) => assert_eq!(value.to_string(), metrics[family.name], "{family:?}"),
            }
            compared += 1;
        }
        assert!(compared >= 8, "{compared}");
        assert_eq!(stats["server"]["requests"], json!({ "200": 1, "404": 1 }));
        for (key, value) in stats["pool"].as_object().into_iter().flatten() {
            let family = families().find(|family| family.group.is_empty() && family.key == key).unwrap();
            let sample = metrics.iter().find(|(sample, _)| name_of(sample) == family.name).unwrap();
            assert!(
                sample.0.contains("name=\"pool\"") && (value.is_string() || &value.to_string() == sample.1)
            );
        }
    });
}

#[test]
fn refusals_are_counted_by_kind() {
    every_stage(&["--quiet", "--max-body", "4", "--watch", "127.0.0.1:0"], |stage| {
        for (request, status) in [
            ("nonsense\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.2\r\nHost: h\r\n\r\n", 505),
            ("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n", 413),
        ] {
            assert_eq!(stage.connect().send(request).reply().status, status, "{request}");
        }
        let stats = watched(watch_addr(stage));
        let refusals = stats["server"]["refusals"].as_object().unwrap();
        let some: HashMap<_, _> = refusals.iter().filter(|(_, count)| **count != 0).collect();
        let count = |reason: &str| some.get(&reason.to_owned()).and_then(|count| count.as_u64());
        assert_eq!((count("malformed"), count("body_too_large")), (Some(2), Some(1)), "{some:?}");
        assert_eq!((count("version_not_supported"), some.len()), (Some(1), 3), "{some:?}");
        assert_eq!(stats["server"]["requests"], json!({ "400": 2, "413": 1, "505": 1 }));
    });
}

/// A connection that is not served does not count as a request; the policy decides whether its client gets
/// an answer.
#[test]
fn connections_that_are_not_served_are_counted_by_what_they_are_told() {
    for (policy, reason) in [("abort", "turned_away"), ("discard", "closed_unanswered")] {
        let flags =
            ["--policy", policy, "--threads", "1", "--queue", "1", "--quiet", "--watch", "127.0.0.1:0"];
        let stage = Stage::start(BOUNDED, &flags);
        let watch = watch_addr(&stage);
        let _clients = [stage.ask(ENDLESS), stage.connect()];
        eventually("one runs, one waits", || {
            let pool = &watched(watch)["pool"];
            (&pool["active"], &pool["queued"]) == (&1.into(), &1.into())
        });
        let more: Vec<_> = (0..3).map(|_| stage.connect()).collect();
        eventually("three are not served", || watched(watch)["server"]["refusals"][reason] == 3);
        let stats = watched(watch);
        assert_eq!((&stats["pool"]["rejected"], &stats["pool"]["queue_capacity"]), (&3.into(), &1.into()));
        assert_eq!((&stats["server"]["accepted"], &stats["server"]["connections"]), (&5.into(), &2.into()));
        drop(more);
    }
}

#[test]
fn connections_beyond_the_bound_are_counted() {
    for binary in [THREAD_PER_TASK, POOLED, REACTOR, MULTI_REACTOR] {
        let stage = Stage::start(binary, &["--quiet", "--max-connections", "2", "--watch", "127.0.0.1:0"]);
        let watch = watch_addr(&stage);
        let mut clients: Vec<_> = (0..2).map(|_| stage.connect()).collect();
        for client in &mut clients {
            assert_eq!(client.get("/hello").status, 200);
        }
        assert_eq!(stage.connect().reply().status, 503);
        let server = &watched(watch)["server"];
        assert_eq!((&server["accepted"], &server["connections"]), (&3.into(), &2.into()), "{binary}");
        assert_eq!(
            (&server["refusals"]["turned_away"], &server["requests"]),
            (&1.into(), &json!({ "200": 2 }))
        );
    }
}

#[test]
fn the_loops_connections_add_up() {
    let stage = Stage::start(MULTI_REACTOR, &["--quiet", "--loops", "2", "--watch", "127.0.0.1:0"]);
    let watch = watch_addr(&stage);
    let crowd: Vec<_> = (0..64).map(|_| stage.connect()).collect();
    let of_loops =
        |stats: &Value, key: &str| ["0", "1"].map(|number| stats["loops"][key][number].as_u64().unwrap());
    eventually("not all are accepted", || of_loops(&watched(watch), "connections").iter().sum::<u64>() == 64);
    let stats = watched(watch);
    let connections = of_loops(&stats, "connections");
    assert!(connections.iter().all(|&count| count > 0), "each has its share: {connections:?}");
    assert_eq!(stats["server"]["connections"], 64);
    drop(crowd);
    eventually("they stay", || watched(watch)["server"]["connections"] == 0);
    let stats = watched(watch);
    assert_eq!(
        (of_loops(&stats, "accepted").iter().sum::<u64>(), of_loops(&stats, "connections")),
        (64, [0, 0])
    );
}

/// The board also shows a request that the loop itself answers, so that the user sees a handler that should
/// run on another thread.
#[test]
fn a_loop_that_is_held_up_shows_by_what() {
    let stage =
        Stage::start(MULTI_REACTOR, &["--quiet", "--loops", "1", "--trusting", "--watch", "127.0.0.1:0"]);
    let watch = watch_addr(&stage);
    let _client = stage.ask(ENDLESS);
    eventually("nothing is seen", || watched(watch)["serving"][0]["request"] == "GET /block?ms=60000");
}

/// A connection counts until it is closed, whatever closes it.
#[test]
fn every_connection_that_ends_is_counted_out() {
    every_stage(&["--quiet", "--watch", "127.0.0.1:0"], |stage| {
        let watch = watch_addr(stage);
        for request in
            ["GET /hello HTTP/1.1\r\nHost: h\r\n\r\n", "GET /panic HTTP/1.1\r\nHost: h\r\n\r\n", "no\r\n\r\n"]
        {
            stage.connect().send(request).reply();
        }
        drop(stage.connect()); // says nothing
        let server = |key: &str| watched(watch)["server"][key].as_u64().unwrap();
        eventually("they stay", || (server("accepted"), server("connections")) == (4, 0));
        assert_eq!(watched(watch)["serving"], json!([]));
    });
}

#[test]
fn the_watch_goes_on_during_the_stop() {
    for binary in STOPPING_STAGES {
        let mut stage = Stage::start(binary, &["--quiet", "--watch", "127.0.0.1:0", "--grace", "10m"]);
        let watch = watch_addr(&stage);
        let upload = crate::lifecycle::Upload::begin(&stage);
        assert_eq!(watched(watch)["server"]["state"], "running");
        stage.signal("TERM");
        eventually("it is not seen to stop", || watched(watch)["server"]["state"] == "stopping");
        assert_eq!(upload.end().status, 200);
        assert_eq!(stage.exit_status(), Some(0));
        assert!(TcpStream::connect(watch).is_err(), "it ends with the process");
    }
}

#[test]
fn clients_that_are_slow_or_many_do_not_keep_others_from_watching() {
    let stage = Stage::start(POOLED, &["--quiet", "--watch", "127.0.0.1:0"]);
    let watch = watch_addr(&stage);
    let silent: Vec<_> = (0..200).map(|_| Client::connect(watch)).collect();
    let half: Vec<_> = (0..20).map(|_| half_a_head(watch)).collect();
    assert_eq!(watched(watch)["server"]["accepted"], 0, "those who watch are not among the clients");
    for mut client in half {
        assert_eq!(client.reply().status, 408);
    }
    for mut client in silent {
        client.assert_closed();
    }
}

fn half_a_head(addr: SocketAddr) -> Client {
    let mut client = Client::connect(addr);
    client.send("GET /stats HTTP/1.1\r\n");
    client
}

/// The address of `--watch` only shows numbers: it has no endpoint that computes, waits or stops the stage,
/// and pages of other sites cannot read it.
#[test]
fn who_watches_can_do_nothing_else() {
    let stage =
        Stage::start_with_only(POOLED, &["--quiet", "--addr", "127.0.0.1:0", "--watch", "127.0.0.1:0"]);
    let watch = watch_addr(&stage);
    let status = |method: &str, target: &str, host: &str| {
        let head = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        Client::connect(watch).send(head).reply_without_body().status
    };
    for target in ["/", "/stats", "/metrics", "/watch.js", "/watch.css"] {
        assert_eq!([status("GET", target, "localhost"), status("HEAD", target, "localhost")], [200, 200]);
        assert_eq!(status("POST", target, "localhost"), 405);
        assert_eq!(status("GET", target, "rebound.example"), 421);
    }
    for target in ["/hello", "/block?ms=1", "/cpu?ms=1", "/panic", "/shutdown"] {
        assert_eq!(status("GET", target, "localhost"), 404, "{target}");
    }
    let page = Client::connect(watch).send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").reply();
    let policy = page.header("Content-Security-Policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    assert!(!page.text().contains("style=") && !page.text().contains("onclick"), "{}", page.text());
}

#[test]
fn an_address_that_is_taken_is_said_before_the_stage_listens() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    // No other test gets this port while the first address is in use. The test uses another loopback
    // address, because Linux has more than one.
    let free = taken.replace("127.0.0.1", "127.0.0.2");
    for binary in STAGES {
        let flags = ["--addr", "127.0.0.1:0", "--watch", &taken];
        assert_fails(binary, &flags, "choose another address with --watch");
        if cfg!(target_os = "linux") {
            let flags = ["--addr", &*free, "--watch", &*free];
            assert_fails(binary, &flags, "give --watch another address than --addr");
        }
    }
}

/// Only watchers can see the requests of clients.
#[test]
fn a_stage_that_is_not_watched_shows_no_requests() {
    let stage = Stage::start(THREAD_PER_TASK, &["--quiet"]);
    let _client = stage.ask(ENDLESS);
    assert_eq!(stats_of(stage.connect())["serving"], Value::Null);
    assert!(!metrics(stage.connect()).is_empty());
}

#[test]
fn the_readme_tells_every_family() {
    let readme = include_str!("../../README.md");
    let rows: Vec<_> = readme
        .lines()
        .filter(|line| line.contains("` | counter |") || line.contains("` | gauge |"))
        .collect();
    let row = |family: &servers::stats::Family| {
        let label = if family.label.is_empty() { String::new() } else { format!("{{{}}}", family.label) };
        let group = if family.group.is_empty() { "pool" } else { family.group };
        format!("| `{}{label}` | {} | `{group}.{}` | {} |", family.name, family.kind, family.key, family.help)
    };
    let expected: Vec<_> = families().map(row).collect();
    assert_eq!(rows, expected, "write this:\n{}", expected.join("\n"));
}

/// A waiting request differs from a waiting connection: each loop has accepted all its connections.
#[test]
fn an_event_loop_with_a_full_pool_counts_who_waits() {
    for binary in EVENT_LOOPS {
        let stage = Stage::start(binary, &["--quiet", "--threads", "1", "--watch", "127.0.0.1:0"]);
        let watch = watch_addr(&stage);
        let _clients: Vec<_> = (0..3).map(|_| stage.ask(ENDLESS)).collect();
        eventually("two wait", || {
            let stats = watched(watch);
            (&stats["pool"]["active"], &stats["pool"]["queued"]) == (&1.into(), &2.into())
        });
        assert_eq!(watched(watch)["server"]["connections"], 3);
    }
}
