use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use logservice::facade::{install_all, log_panics};
use logservice::format::Json;
use logservice::{Level, Levels, LogService, Overflow, Sink};
use serde_json::{Value, json};

use super::{Log, in_own_process};

fn parse(directives: &str) -> Levels {
    Levels::parse(directives).unwrap()
}

in_own_process! {
    each_output_has_its_own_levels_and_spans_and_the_log_facade_has_the_most_of_them
    {
        let (file, console) = (Log::json(), Log::json());
        let (all, few) = (parse("info"), parse("warn"));
        install_all((&file.service, &all), &[(&console.service, &few)]).unwrap();
        assert_eq!(log::max_level(), log::LevelFilter::Info);
        let say = || {
            let _outer = tracing::warn_span!("outer").entered();
            let _inner = tracing::info_span!("inner", id = 7).entered();
            log::warn!(target: "l", "1");
            tracing::warn!(target: "t", "2");
            log::info!(target: "l", "3");
            tracing::info!(target: "t", "4");
        };
        say();
        let (in_file, in_console) = (file.objects(), console.objects());
        assert_eq!((in_file.len(), in_console.len()), (4, 2));
        let inner = json!({ "name": "inner", "fields": { "id": 7 } });
        assert!(in_file.iter().all(|object| object["spans"] == json!([{ "name": "outer" }, inner])), "{in_file:?}");
        let only_outer = |object: &Value| object["spans"] == json!([{ "name": "outer" }]);
        assert!(in_console.iter().all(only_outer), "{in_console:?}");

        few.set("off,l=debug").unwrap();
        assert_eq!(log::max_level(), log::LevelFilter::Debug);
        all.set("off").unwrap();
        assert_eq!(log::max_level(), log::LevelFilter::Debug);
        say();
        assert_eq!((file.lines().len(), console.said()), (0, vec!["WARN l: 1".into(), "INFO l: 3".into()]));
    }
}

in_own_process! {
    records_of_the_log_crate_and_panics_have_the_spans_of_their_thread
    {
        let log = Log::json();
        install_all((&log.service, &parse("info")), &[]).unwrap();
        log_panics(log.service.handle());
        log::info!("before there are any");
        let request = tracing::info_span!("request", id = 7).entered();
        let off = tracing::debug_span!("off").entered();
        log::info!("from a library");
        assert!(thread::spawn(|| log::info!("elsewhere")).join().is_ok());
        assert!(std::panic::catch_unwind(|| panic!("as the test has asked")).is_err());
        drop(off);
        drop(request);
        log::info!("after them");
        let spans: Vec<Value> = log.objects().iter().map(|object| object["spans"].clone()).collect();
        let in_request = json!([{ "name": "request", "fields": { "id": 7 } }]);
        assert_eq!(spans, [json!(null), in_request.clone(), json!(null), in_request, json!(null)]);
    }
}

/// Returns the source lines in this file that logged the records.
fn places(log: &Log) -> Vec<u64> {
    let objects = log.objects();
    assert!(objects.iter().all(|object| object["file"] == file!()), "{objects:?}");
    objects.iter().map(|object| object["line"].as_u64().unwrap()).collect()
}

in_own_process! {
    records_know_their_place_in_the_source
    {
        let log = Log::new(Json::utc().places(true));
        install_all((&log.service, &parse("info")), &[]).unwrap();
        log_panics(log.service.handle());
        let first = u64::from(line!()) + 1;
        log::info!("1");
        tracing::info!("2");
        log.service.say(Level::Info, "", format_args!("3")).unwrap();
        assert!(std::panic::catch_unwind(|| panic!("4")).is_err());
        assert_eq!(places(&log), [first, first + 1, first + 2, first + 3]);
    }
}

/// A sink that accepts nothing until the test has ended.
struct Stuck(Mutex<Receiver<()>>);

impl Sink for Stuck {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let _ = self.0.lock().unwrap().recv();
        Ok(lines.len())
    }

    fn name(&self) -> String {
        "an output that hangs".into()
    }
}

in_own_process! {
    an_output_that_hangs_takes_no_line_of_another_with_it
    {
        const LINES: u64 = 500;
        let log = Log::json();
        let (end, is_over) = mpsc::channel();
        let builder = LogService::builder().capacity(4096).longest_line(64).overflow_of_all(Overflow::DropNewest);
        let stuck = builder.stop_within(Duration::from_millis(10)).start(Stuck(Mutex::new(is_over))).unwrap();
        install_all((&stuck, &parse("info")), &[(&log.service, &parse("info"))]).unwrap();
        (0..LINES).for_each(|number| log::info!("{number}"));
        assert_eq!(log.said().len() as u64, LINES);
        let counts = stuck.counts();
        assert_eq!((counts.accepted + counts.dropped, counts.written), (LINES, 0), "its own books");
        assert!(counts.dropped > 0);
        drop(end);
    }
}
