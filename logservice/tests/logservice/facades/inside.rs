use std::cell::RefCell;
use std::fmt;
use std::io;
use std::panic::{self, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

use logservice::facade::{install, log_panics};
use logservice::format::Json;
use logservice::{Durability, Levels, LogService, Record, Sink};

use serde_json::json;

use super::{LONG, Log, in_own_process};

fn installed() -> Log {
    let log = Log::json();
    // With these directives, the log must search the directives for every record.
    install(&log.service, &Levels::parse("info,x=off").unwrap()).unwrap();
    log
}

/// A value that logs through both facades when it is formatted and when it is dropped.
struct Talks(&'static str);

impl Talks {
    fn say(&self, when: &str) {
        log::info!(target: "l", "{} {when}", self.0);
        tracing::info!(target: "t", "{} {when}", self.0);
    }
}

impl fmt::Display for Talks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.say("shown");
        f.write_str(self.0)
    }
}

impl fmt::Debug for Talks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Drop for Talks {
    fn drop(&mut self) {
        self.say("dropped");
    }
}

fn of(name: &str, when: &str) -> [String; 2] {
    ["l", "t"].map(|target| format!("INFO {target}: {name} {when}"))
}

in_own_process! {
    a_value_logs_while_it_is_shown_and_when_it_is_dropped
    {
        let log = installed();
        log::info!(target: "l", "{} logged", Talks("value"));
        let [shown, dropped] = ["shown", "dropped"].map(|when| of("value", when));
        assert_eq!(log.said(), [&shown[..], &["INFO l: value logged".into()], &dropped].concat());
        tracing::info!(target: "t", "{} logged", Talks("value"));
        assert_eq!(log.said(), [&shown[..], &["INFO t: value logged".into()], &dropped].concat());
        // The record has a field, so that its key and its value are visited.
        log::info!(target: "l", key:% = Talks("value"); "pair");
        let said = log.said();
        assert!(said.contains(&"INFO l: pair".into()) && said.ends_with(&dropped), "{said:?}");
        tracing::info!(target: "t", key = ?Talks("value"), "field");
        let said = log.said();
        assert!(said.contains(&"INFO t: field".into()) && said.ends_with(&dropped), "{said:?}");
    }
}

in_own_process! {
    a_value_of_a_span_logs_while_it_is_shown
    {
        let log = installed();
        let value = Talks("value");
        let span = tracing::info_span!("s", value = ?value, later = tracing::field::Empty);
        assert_eq!(log.said(), of("value", "shown"));
        span.record("later", tracing::field::display(&value));
        assert_eq!(log.said(), of("value", "shown"));
        let _entered = span.enter();
        let inner = tracing::info_span!("inner", value = %value);
        assert_eq!(log.said(), of("value", "shown"));
        inner.in_scope(|| tracing::info!(target: "t", "in it"));
        let objects = log.objects();
        assert_eq!(objects.len(), 1, "it is shown once");
        assert_eq!(objects[0]["spans"][0]["fields"]["later"], "value");
    }
}

in_own_process! {
    /// Three thread-local values log when they are dropped. The first value was created before the
    /// thread-local variables of the service and of the facades, the second value between these variables,
    /// and the third value after them.
    a_thread_logs_while_its_thread_locals_are_dropped
    {
        thread_local! {
            static FIRST: RefCell<Option<Talks>> = const { RefCell::new(None) };
            static SECOND: RefCell<Option<Talks>> = const { RefCell::new(None) };
            static LAST: RefCell<Option<Talks>> = const { RefCell::new(None) };
        }
        let log = installed();
        for _ in 0..50 {
            thread::spawn(|| {
                FIRST.set(Some(Talks("first")));
                log::info!("before");
                SECOND.set(Some(Talks("second")));
                let _span = tracing::info_span!("s").entered();
                tracing::info!("before");
                LAST.set(Some(Talks("last")));
            })
            .join()
            .unwrap();
            let mut said = log.said();
            said.retain(|said| said.ends_with("dropped"));
            said.sort_unstable();
            let mut expected = ["first", "second", "last"].map(|name| of(name, "dropped")).concat();
            expected.sort_unstable();
            assert_eq!(said, expected);
        }
    }
}

in_own_process! {
    a_panic_is_in_the_log_before_anybody_hears_of_it
    {
        let log = installed();
        let hooks = Arc::new(AtomicUsize::new(0));
        let before = Arc::clone(&hooks);
        panic::set_hook(Box::new(move |_| _ = before.fetch_add(1, Relaxed)));
        log_panics(log.service.handle());
        let thread = thread::Builder::new().name("shop-1".into());
        let result = thread.spawn(|| panic!("{} is empty\n", "the shelf")).unwrap().join();
        assert!(result.is_err());
        assert_eq!(log.service.counts().written, 1, "without a flush of ours");
        let said = log.said();
        let expected = format!("ERROR panic: thread 'shop-1' panicked at {}:", file!());
        assert!(said[0].starts_with(&expected) && said[0].ends_with(": the shelf is empty\n"), "{said:?}");
        let result = catch_unwind(|| panic::panic_any(7));
        assert!(result.is_err());
        assert!(log.said()[0].ends_with(": a payload that is no text"));
        assert_eq!(hooks.load(Relaxed), 2, "the hook that was there before");
    }
}

struct Panics;

impl fmt::Display for Panics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("half")?;
        panic!("as the test has asked")
    }
}

in_own_process! {
    a_panic_while_a_record_is_formatted_leaves_one_line_and_the_program_running
    {
        let log = installed();
        log_panics(log.service.handle());
        log::info!(target: "l", "{Panics}");
        tracing::info!(target: "t", "{Panics}");
        tracing::info!(target: "t", before = 1, field = %Panics, after = 2, "with a field");
        log::info!(target: "l", "on");
        let objects = log.objects();
        let said = objects.iter().map(|object| object["message"].as_str().unwrap());
        assert_eq!(said.collect::<Vec<_>>(), ["half(panicked)", "half(panicked)", "with a field", "on"]);
        assert_eq!(objects[2]["fields"], json!({ "before": 1, "field": "half(panicked)", "after": 2 }));
    }
}

in_own_process! {
    a_format_that_always_panics_neither_hangs_nor_ends_the_program
    {
        let format = |record: &Record<'_>, _: usize, out: &mut String| {
            assert_eq!(record.target, "panic", "as the test has asked");
            out.push_str("panic");
        };
        let log = Log::new(format);
        install(&log.service, &Levels::parse("info").unwrap()).unwrap();
        log_panics(log.service.handle());
        log::info!("1");
        assert_eq!(log.lines(), ["a format panicked"]);
    }
}

/// A sink that breaks the contract of sinks.
struct Breaks {
    panics: Arc<AtomicUsize>,
    took: Arc<Mutex<Vec<u8>>>,
}

impl Sink for Breaks {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        log::error!("from the writer's thread");
        tracing::error!("from the writer's thread");
        log::logger().flush();
        assert!(self.panics.fetch_add(1, Relaxed) >= 3, "as the test has asked");
        self.took.lock().unwrap().extend_from_slice(lines);
        Ok(lines.len())
    }

    fn name(&self) -> String {
        "one that breaks".into()
    }
}

in_own_process! {
    a_panic_on_the_writers_thread_is_not_waited_for_there
    {
        let (panics, took) = <(Arc<AtomicUsize>, Arc<Mutex<Vec<u8>>>)>::default();
        let sink = Breaks { panics: Arc::clone(&panics), took: Arc::clone(&took) };
        let service = LogService::builder().format(Json::utc()).start(sink).unwrap();
        install(&service, &Levels::parse("info").unwrap()).unwrap();
        log_panics(service.handle());
        log::info!("1");
        service.flush(Durability::System, LONG).unwrap();
        assert!(panics.load(Relaxed) >= 4);
        assert_eq!(took.lock().unwrap().split(|&byte| byte == b'\n').count() - 1, 1);
    }
}
