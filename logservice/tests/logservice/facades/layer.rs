use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use logservice::{Levels, LogLayer};
use serde_json::json;
use tracing::subscriber::with_default;
use tracing::{Event, Subscriber, debug, error, info, info_span, trace_span, warn};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry;

use super::Log;

/// Returns the lines that a service with its own layer logs during `run`.
fn logged(run: impl FnOnce()) -> Vec<serde_json::Value> {
    let log = Log::json();
    with_default(registry().with(LogLayer::new(log.service.handle())), run);
    log.objects()
}

#[test]
fn an_event_has_its_level_target_message_and_fields() {
    let objects = logged(|| {
        let error: Box<dyn std::error::Error> = "no \"answer\"".into();
        let (text, missing) = (String::from("a\tb"), None::<u8>);
        info!(
            b = true, i = -1_i64, u = u64::MAX, big = u128::MAX, f = 0.5, s = "text", shown = %text, debug = ?text,
            missing, error = &*error, r#type = 1, a.b = 2, "read {}", 3
        );
        debug!(target: "shop::db", "plain");
        warn!(only = 1);
        error!(message = "as a field", x = 1);
    });
    let expected = json!({
        "b": true, "i": -1, "u": u64::MAX, "big": u128::MAX.to_string(), "f": 0.5, "s": "text", "shown": "a\tb",
        "debug": "\"a\\tb\"", "error": "no \"answer\"", "type": 1, "a.b": 2,
    });
    assert_eq!(objects[0]["fields"], expected);
    assert_eq!((&objects[0]["message"], &objects[0]["level"]), (&json!("read 3"), &json!("INFO")));
    assert_eq!(objects[0]["target"], module_path!());
    assert!(objects[0].get("spans").is_none());
    assert_eq!((&objects[1]["target"], &objects[1]["message"]), (&json!("shop::db"), &json!("plain")));
    assert_eq!((&objects[2]["message"], &objects[2]["fields"]), (&json!(""), &json!({ "only": 1 })));
    assert_eq!((&objects[3]["message"], &objects[3]["fields"]), (&json!("as a field"), &json!({ "x": 1 })));
}

#[test]
fn an_event_has_the_spans_it_is_in() {
    let spans = |object: &serde_json::Value| object.get("spans").cloned();
    let objects = logged(|| {
        let outer = info_span!("outer", id = 7, user = %"eve", later = tracing::field::Empty);
        let inner = outer.in_scope(|| info_span!("inner"));
        inner.in_scope(|| info!("0: by context"));
        let other = info_span!(parent: &inner, "other", x = 0.5);
        info!(parent: &other, "1: by name");
        other.in_scope(|| info!(parent: None, "2: none"));
        other.in_scope(|| info_span!(parent: None, "root").in_scope(|| info!("3: a root")));
        outer.record("later", 1);
        other.follows_from(&outer);
        info!(parent: &inner, "4: recorded later");
        for n in 0..1_000 {
            outer.record("later", n);
        }
        outer.record("id", "eight");
        drop((outer, other));
        info!(parent: &inner, "5: recorded again");
    });
    let outer = |fields| json!({ "name": "outer", "fields": fields });
    let (inner, other) = (json!({ "name": "inner" }), json!({ "name": "other", "fields": { "x": 0.5 } }));
    let plain = outer(json!({ "id": 7, "user": "eve" }));
    assert_eq!(spans(&objects[0]), Some(json!([plain, inner])));
    assert_eq!(spans(&objects[1]), Some(json!([plain, inner, other])));
    assert_eq!(spans(&objects[2]), None);
    assert_eq!(spans(&objects[3]), Some(json!([{ "name": "root" }])));
    assert_eq!(
        spans(&objects[4]),
        Some(json!([outer(json!({ "id": 7, "user": "eve", "later": 1 })), inner]))
    );
    assert_eq!(
        spans(&objects[5]),
        Some(json!([outer(json!({ "user": "eve", "later": 999, "id": "eight" })), inner]))
    );
}

#[test]
fn spans_that_the_levels_leave_out_are_left_out_of_the_way_to_an_event() {
    let log = Log::json();
    let layer = LogLayer::filtered(log.service.handle(), Levels::parse("info").unwrap());
    with_default(registry().with(layer), || {
        let _outer = info_span!("outer").entered();
        let _hidden = trace_span!("hidden", x = 1).entered();
        let _inner = info_span!("inner").entered();
        info!("in two");
        debug!("off");
    });
    let objects = log.objects();
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["spans"], json!([{ "name": "outer" }, { "name": "inner" }]));
}

/// Counts events, as a layer of another package might.
#[derive(Clone, Default)]
struct Counts(Arc<AtomicUsize>);

impl<S: Subscriber> Layer<S> for Counts {
    fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn five_levels() {
    tracing::error!("1");
    warn!("2");
    info!("3");
    debug!("4");
    tracing::trace!("5");
}

#[test]
fn layers_beside_it_get_what_they_want() {
    let (log, counts) = (Log::json(), Counts::default());
    let levels = Levels::parse("warn").unwrap();
    let layer = || LogLayer::filtered(log.service.handle(), levels.clone());
    let below_a_filter = LogLayer::filtered(log.service.handle(), levels.clone());

    with_default(registry().with(layer()).with(counts.clone()), five_levels);
    assert_eq!((log.lines().len(), counts.0.swap(0, Relaxed)), (2, 5), "a layer without a filter");

    with_default(registry().with(layer()).with(counts.clone().with_filter(LevelFilter::INFO)), five_levels);
    assert_eq!((log.lines().len(), counts.0.swap(0, Relaxed)), (2, 3), "a layer with its own");

    let all = Targets::new().with_default(LevelFilter::ERROR);
    with_default(registry().with(all).with(below_a_filter).with(counts.clone()), five_levels);
    assert_eq!((log.lines().len(), counts.0.swap(0, Relaxed)), (1, 1), "a filter for all");

    levels.set("trace").unwrap();
    with_default(registry().with(layer()).with(counts.clone().with_filter(LevelFilter::WARN)), five_levels);
    assert_eq!((log.lines().len(), counts.0.swap(0, Relaxed)), (5, 2), "after a change");
}

#[test]
fn two_services_in_one_subscriber_have_filters_of_their_own() {
    let (one, other) = (Log::json(), Log::json());
    let subscriber = registry()
        .with(LogLayer::filtered(one.service.handle(), Levels::parse("trace").unwrap()))
        .with(LogLayer::filtered(other.service.handle(), Levels::parse("info").unwrap()));
    with_default(subscriber, || {
        let _outer = info_span!("outer").entered();
        let _hidden = trace_span!("hidden").entered();
        let inner = info_span!("inner", later = tracing::field::Empty).entered();
        inner.record("later", 1);
        info!("both");
        debug!("one");
    });
    let inner = json!({ "name": "inner", "fields": { "later": 1 } });
    let objects = other.objects();
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["spans"], json!([{ "name": "outer" }, inner]));
    let objects = one.objects();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["spans"], json!([{ "name": "outer" }, { "name": "hidden" }, inner]));
}

#[test]
fn a_span_of_many_threads_is_recorded_while_events_show_it() {
    let log = Log::json();
    let subscriber = tracing::Dispatch::new(registry().with(LogLayer::new(log.service.handle())));
    let span = tracing::dispatcher::with_default(&subscriber, || info_span!("s", a = 0, b = 0));
    thread::scope(|scope| {
        for name in ["a", "b"] {
            let (span, subscriber) = (&span, &subscriber);
            scope.spawn(move || {
                tracing::dispatcher::with_default(subscriber, || {
                    for n in 1..=500 {
                        span.record(name, n);
                        span.in_scope(|| info!(name, n));
                    }
                });
            });
        }
    });
    let objects = log.objects();
    assert_eq!(objects.len(), 1_000);
    for object in objects {
        let name = object["fields"]["name"].as_str().unwrap();
        assert_eq!(object["spans"][0]["fields"][name], object["fields"]["n"], "its own is always the last");
    }
}

#[test]
fn a_value_of_a_span_may_be_long_or_panic() {
    struct Long;
    impl fmt::Display for Long {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (0..1_000).try_for_each(|_| f.write_str(&"€".repeat(1_000)))
        }
    }
    struct Panics;
    impl fmt::Debug for Panics {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Pan")?;
            panic!("as the test has asked")
        }
    }
    let objects = logged(|| info_span!("s", long = %Long, panics = ?Panics).in_scope(|| info!("m")));
    let fields = &objects[0]["spans"][0]["fields"];
    let long = fields["long"].as_str().unwrap();
    assert!(long.ends_with("€…") && (4_000..=4_100).contains(&long.len()), "{}", long.len());
    assert_eq!(fields["panics"], "Pan(panicked)");
}
