use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use log::kv::Value;
use logservice::facade::{InstallError, install};
use logservice::format::Json;
use logservice::{Levels, LogLayer, Logger};
use serde_json::json;
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing_subscriber::layer::{Context, Filter};
use tracing_subscriber::prelude::*;

use super::{Log, in_own_process};

fn installed(directives: &str) -> (Log, Levels) {
    let (log, levels) = (Log::json(), Levels::parse(directives).unwrap());
    install(&log.service, &levels).unwrap();
    (log, levels)
}

/// Logs at all five levels through both facades.
fn say_all() {
    log::error!(target: "a::l", "1");
    log::warn!(target: "a::l", "2");
    log::info!(target: "a::l", "3");
    log::debug!(target: "b::l", "4");
    log::trace!(target: "b::l", "5");
    tracing::error!(target: "a::t", "1");
    tracing::warn!(target: "a::t", "2");
    tracing::info!(target: "a::t", "3");
    tracing::debug!(target: "b::t", "4");
    tracing::trace!(target: "b::t", "5");
}

in_own_process! {
    records_of_the_log_crate_have_their_pairs
    {
        let (log, _) = installed("info");
        let text = String::from("x y");
        log::info!(
            target: "shop", i = -1, u = u64::MAX, big = u128::MAX, f = f64::NAN, b = true, s = "text", c = 'c',
            shown:% = text, debug:? = text, null = None::<u8>, list:? = [1, 2]; "read {}", 3
        );
        log::warn!("plain");
        let pairs = BTreeMap::from([("key", Value::from(1))]);
        log::logger().log(
            &log::Record::builder().level(log::Level::Error).target("t").args(format_args!("m")).key_values(&pairs).build()
        );
        let objects = log.objects();
        assert_eq!(objects[0]["message"], "read 3");
        assert_eq!(objects[0]["fields"], json!({
            "i": -1, "u": u64::MAX, "big": u128::MAX.to_string(), "f": "NaN", "b": true, "s": "text", "c": "c",
            "shown": "x y", "debug": "\"x y\"", "null": null, "list": "[1, 2]",
        }));
        assert_eq!(objects[1]["target"], module_path!());
        assert!(objects[1].get("fields").is_none());
        assert_eq!((&objects[2]["fields"], objects.len()), (&json!({ "key": 1 }), 3));
    }
}

in_own_process! {
    both_facades_follow_the_levels_at_once
    {
        let (log, levels) = installed("info");
        assert_eq!(log::max_level(), log::LevelFilter::Info);
        say_all();
        let three = ["ERROR a::l: 1", "WARN a::l: 2", "INFO a::l: 3"];
        let three = three.map(str::to_owned).into_iter().chain(three.map(|said| said.replace("::l", "::t")));
        let three: Vec<_> = three.collect();
        assert_eq!(log.said(), three);

        levels.set("off,b=trace").unwrap();
        assert_eq!(log::max_level(), log::LevelFilter::Trace);
        say_all();
        assert_eq!(log.said(), ["DEBUG b::l: 4", "TRACE b::l: 5", "DEBUG b::t: 4", "TRACE b::t: 5"]);

        levels.set("off").unwrap();
        assert_eq!(log::max_level(), log::LevelFilter::Off);
        say_all();
        assert_eq!(log.said().len(), 0);

        assert!(levels.set("trace,a=loud").is_err());
        assert_eq!(log::max_level(), log::LevelFilter::Off);
        say_all();
        assert_eq!(log.said().len(), 0);

        levels.set("info").unwrap();
        say_all();
        assert_eq!(log.said(), three);
        assert!(!log::log_enabled!(target: "a", log::Level::Debug) && !tracing::enabled!(tracing::Level::DEBUG));

        let others = Levels::parse("trace").unwrap();
        others.set("off").unwrap();
        assert_eq!(log::max_level(), log::LevelFilter::Info, "of levels that nothing was installed with");
    }
}

/// Counts how often the levels are checked for a single call, rather than once for the callsite.
struct Asked(Levels, Arc<AtomicUsize>);

impl<S> Filter<S> for Asked {
    fn enabled(&self, metadata: &Metadata<'_>, context: &Context<'_, S>) -> bool {
        self.1.fetch_add(1, Relaxed);
        self.0.enabled(metadata, context)
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        Filter::<S>::callsite_enabled(&self.0, metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Filter::<S>::max_level_hint(&self.0)
    }
}

in_own_process! {
    each_place_in_the_program_asks_once
    {
        let (log, asked) = (Log::json(), Arc::new(AtomicUsize::new(0)));
        let levels = Levels::parse("off,a=info,b=debug").unwrap();
        let filter = Asked(levels.clone(), Arc::clone(&asked));
        let layer = LogLayer::new(log.service.handle()).with_filter(filter);
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();
        (0..100).for_each(|_| say_all());
        assert_eq!((log.said().len(), asked.load(Relaxed)), (400, 0));
        levels.set("trace").unwrap();
        (0..100).for_each(|_| say_all());
        assert_eq!((log.said().len(), asked.load(Relaxed)), (500, 0));
    }
}

in_own_process! {
    threads_log_while_the_levels_change
    {
        let (log, levels) = installed("info");
        thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| {
                for n in 0..3_000 {
                    log::info!("{n}");
                    tracing::info!(n);
                }
            })).collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                levels.set("warn,x=trace").unwrap();
                levels.set("info").unwrap();
            }
        });
        log.lines();
        levels.set("off").unwrap();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(say_all);
            }
        });
        assert_eq!(log.said().len(), 0);
        levels.set("trace").unwrap();
        say_all();
        assert_eq!(log.said().len(), 10);
    }
}

struct Other;

impl log::Log for Other {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        false
    }

    fn log(&self, _: &log::Record<'_>) {}

    fn flush(&self) {}
}

in_own_process! {
    another_logger_is_named_and_left_alone
    {
        log::set_logger(&Other).unwrap();
        log::set_max_level(log::LevelFilter::Debug);
        let (log, levels) = (Log::json(), Levels::parse("info").unwrap());
        let error = install(&log.service, &levels).unwrap_err();
        assert_eq!(error, InstallError::Log);
        assert!(error.to_string().contains("another logger of the `log` crate already"), "{error}");
        say_all();
        assert_eq!(log.said(), ["ERROR a::t: 1", "WARN a::t: 2", "INFO a::t: 3"]);
        levels.set("off").unwrap();
        assert_eq!(log::max_level(), log::LevelFilter::Debug);
        assert_eq!(install(&log.service, &levels), Err(InstallError::Both));
    }
}

in_own_process! {
    another_subscriber_is_named_and_left_alone
    {
        tracing::subscriber::set_global_default(tracing_subscriber::registry()).unwrap();
        let (log, levels) = (Log::json(), Levels::parse("info").unwrap());
        let error = install(&log.service, &levels).unwrap_err();
        assert_eq!(error, InstallError::Tracing);
        assert!(error.to_string().contains("another `tracing` subscriber already"), "{error}");
        say_all();
        assert_eq!(log.said(), ["ERROR a::l: 1", "WARN a::l: 2", "INFO a::l: 3"]);
    }
}

in_own_process! {
    records_that_come_as_events_have_their_own_target_and_come_once
    {
        let (log, levels) = (Log::new(Json::utc().places(true)), Levels::parse("info,noisy=off").unwrap());
        let layer = LogLayer::filtered(log.service.handle(), levels.clone());
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();
        tracing_log::LogTracer::init().unwrap();
        let _span = tracing::info_span!("s").entered();
        let line = line!() + 1;
        log::info!(target: "shop::db", "once");
        log::info!(target: "noisy", "off");
        log::debug!(target: "shop::db", "off");
        tracing::info!(target: "log", "no record");
        let objects = log.objects();
        assert_eq!(objects.len(), 2, "{objects:?}");
        assert_eq!((&objects[0]["target"], &objects[0]["message"]), (&json!("shop::db"), &json!("once")));
        assert_eq!((&objects[0]["file"], &objects[0]["line"]), (&json!(file!()), &json!(line)));
        assert!(objects[0].get("fields").is_none(), "{}", objects[0]);
        assert_eq!(objects[0]["spans"], json!([{ "name": "s" }]));
        assert_eq!((&objects[1]["target"], &objects[1]["message"]), (&json!("log"), &json!("no record")));
        assert_eq!(install(&log.service, &levels), Err(InstallError::Both), "so nothing can come twice");
    }
}

in_own_process! {
    flushing_the_logger_hands_the_lines_to_the_system
    {
        let log = Log::json();
        let logger = Logger::new(log.service.handle(), Levels::parse("info").unwrap());
        logger.install().unwrap();
        log::info!("here");
        log::logger().flush();
        assert_eq!(log.service.counts().written, 1);
        log.service.stop(super::LONG);
        log::info!("too late");
        log::logger().flush();
        assert_eq!(log.service.counts().refused, 1);
    }
}
