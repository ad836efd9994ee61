//! Tests that the library sends its reports through the `tracing` facade, both to the stages' subscriber and
//! to a subscriber that a user has written.

use crate::support::{Client, POOLED, REACTOR, Stage};
use executor::CancelToken;
use servers::{ACCESS, AccessLog, Limits, Listener, Reactor, Server, Site, diagnostics::REPORTS};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use tracing::field::{Field, Visit};
use tracing::{Dispatch, Event, Level, Subscriber, dispatcher};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

const HELLO: &str = "GET /hello?a=\"b\" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A subscriber that a user has written; it keeps the events that it receives.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<(String, Level, Fields)>>>);

#[derive(Default, Debug)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl<S: Subscriber> Layer<S> for Kept {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        self.0.lock().unwrap().push((metadata.target().to_owned(), *metadata.level(), fields));
    }
}

impl Kept {
    fn dispatch(&self) -> Dispatch {
        Dispatch::new(tracing_subscriber::registry().with(self.clone()))
    }

    /// Returns the events with this target; fails if other events have arrived.
    fn only(&self, target: &str) -> Vec<(Level, Fields)> {
        let events = std::mem::take(&mut *self.0.lock().unwrap()).into_iter();
        let ours = events.filter(|(target, ..)| target.starts_with("servers"));
        ours.map(|(of, level, fields)| {
            assert_eq!(of, target);
            (level, fields)
        })
        .collect()
    }
}

fn server(log: AccessLog) -> Server {
    Server::new(Site::new(None), Limits::default(), log)
}

/// Sends a request to a server that answers on this thread.
fn answered_here(server: &Server, request: &str) {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut client = Client::connect(listener.local_addr());
    client.send(request);
    server.serve(listener.incoming().next().unwrap());
    client.reply();
}

fn assert_tells_of_an_answer(fields: &Fields, thread: &str) {
    let Fields(fields) = fields;
    let names: Vec<_> = fields.keys().copied().collect();
    assert_eq!(names, ["bytes", "client", "cut_off", "ms", "request", "status", "thread", "time"]);
    for (name, value) in [
        ("client", "127.0.0.1"),
        ("request", r#""GET /hello?a=%22b%22 HTTP/1.1""#),
        ("status", "200"),
        ("bytes", "13"),
        ("cut_off", "false"),
        ("thread", &format!("{thread:?}")),
    ] {
        assert_eq!(fields[name], value, "{name}");
    }
    assert!(fields["time"].ends_with(" GMT\""), "{fields:?}");
    assert!(fields["ms"].parse::<f64>().unwrap() >= 0.0, "{fields:?}");
}

#[test]
fn a_subscriber_of_the_user_s_own_gets_an_event_for_each_answer() {
    let kept = Kept::default();
    let name = thread::current().name().unwrap().to_owned();
    dispatcher::with_default(&kept.dispatch(), || answered_here(&server(AccessLog::Events), HELLO));
    let events = kept.only(ACCESS);
    let [(Level::INFO, fields)] = &events[..] else { panic!("{events:?}") };
    assert_tells_of_an_answer(fields, &name);

    dispatcher::with_default(&kept.dispatch(), || {
        answered_here(&server(AccessLog::Events), "nonsense\r\n\r\n");
    });
    let events = kept.only(ACCESS);
    let [(Level::INFO, fields)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((fields.0["request"].as_str(), fields.0["status"].as_str()), ("\"-\"", "400"));

    dispatcher::with_default(&kept.dispatch(), || answered_here(&server(AccessLog::Quiet), HELLO));
    assert!(kept.only(ACCESS).is_empty());
}

#[test]
fn an_event_loop_tells_of_its_answers_too() {
    let (kept, stop) = (Kept::default(), CancelToken::new());
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let addr = listener.local_addr();
    let reactor = Reactor::new(listener, &Arc::new(server(AccessLog::Events).until(&stop))).unwrap();
    let dispatch = kept.dispatch();
    let running = thread::Builder::new().name("looping".into());
    let running = running.spawn(move || dispatcher::with_default(&dispatch, || reactor.run())).unwrap();
    let mut client = Client::connect(addr);
    client.send(HELLO);
    assert_eq!(client.reply().status, 200);
    stop.cancel();
    running.join().unwrap();
    let events = kept.only(ACCESS);
    let [(Level::INFO, fields)] = &events[..] else { panic!("{events:?}") };
    assert_tells_of_an_answer(fields, "looping");
}

#[test]
fn a_report_is_an_event_with_a_target_of_its_own() {
    let kept = Kept::default();
    dispatcher::with_default(&kept.dispatch(), || servers::report(format_args!("no {}", "room")));
    let events = kept.only(REPORTS);
    let [(Level::WARN, fields)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(fields.0["message"], "no room");
}

/// Except for the time, every byte of the line is as expected, and the line occurs only once, whatever
/// `RUST_LOG` says.
#[test]
fn on_stderr_an_answer_is_the_line_that_web_servers_have() {
    let handler = "pool-1-thread-1";
    // The loop itself refuses requests that it cannot parse.
    for (binary, refuser) in [(POOLED, handler), (REACTOR, "pool-2-thread-1")] {
        for wanted in ["", "off", "info", "info,servers=trace,servers::access=trace"] {
            let mut command = Command::new(binary);
            let command = command.args(["--threads", "1"]).env("RUST_LOG", wanted);
            let stage = Stage::start_command(binary, command);
            assert_eq!(stage.connect().send(HELLO).reply().status, 200);
            let refused = stage.connect().send("nonsense\r\n\r\n").reply();
            assert_eq!(refused.status, 400);
            assert_is_line(&stage.log_line(), "GET /hello?a=%22b%22 HTTP/1.1", 200, 13, handler);
            assert_is_line(&stage.log_line(), "-", 400, refused.body.len(), refuser);
            assert!(stage.stop().is_empty(), "{wanted}");
        }
    }
}

fn assert_is_line(line: &str, request: &str, status: u16, bytes: usize, thread: &str) {
    let rest = line.strip_prefix("127.0.0.1 [").expect(line);
    let (time, rest) = rest.split_at("Sat, 21 Nov 2026 09:30:00 GMT".len());
    assert!(time.ends_with(" GMT"), "{line}");
    let rest = rest.strip_prefix(&format!("] \"{request}\" {status} {bytes} ")).expect(line);
    let (ms, rest) = rest.split_once("ms ").expect(line);
    let (whole, tenths) = ms.split_once('.').expect(line);
    assert!(whole.parse::<u64>().is_ok() && tenths.len() == 1 && tenths.parse::<u8>().is_ok(), "{line}");
    assert_eq!(rest, thread, "{line}");
}
