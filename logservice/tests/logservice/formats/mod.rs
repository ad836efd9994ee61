//! Tests the formats: any text from outside becomes one line, which is complete or has a mark that a part is
//! missing.

mod outside; // texts that would forge lines, lines that are cut

use std::error::Error;
use std::fmt;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use logservice::format::{Facility, Human, Json, Syslog};
use logservice::{Fields, Format, Level, Record, Value};
use serde_json::json;

const WIDE: usize = 1 << 20;

fn time() -> SystemTime {
    UNIX_EPOCH + Duration::new(1_795_591_987, 123_456_789)
}

fn record<'a>(message: fmt::Arguments<'a>, fields: &'a dyn Fields) -> Record<'a> {
    Record { time: time(), fields, ..Record::new(Level::Info, "shop::db", message) }
}

fn line(format: &impl Format, record: &Record<'_>, longest: usize) -> String {
    let mut out = "before".to_owned();
    format.line(record, longest, &mut out);
    out.split_off("before".len())
}

fn human(message: fmt::Arguments<'_>, fields: &dyn Fields) -> String {
    let text = line(&Human::utc().threads(false), &record(message, fields), WIDE);
    text.strip_prefix("2026-11-25T07:33:07.123456Z  INFO shop::db: ").unwrap().to_owned()
}

fn json(record: &Record<'_>) -> serde_json::Value {
    let text = line(&Json::utc(), record, WIDE);
    assert!(!text.contains('\n'));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn on_a_thread_named(name: &str, run: impl FnOnce() + Send) {
    thread::scope(|scope| {
        thread::Builder::new().name(name.into()).spawn_scoped(scope, run).unwrap().join().unwrap();
    });
}

#[test]
fn a_line_for_people() {
    on_a_thread_named("worker-3", || {
        let request: [_; 1] = [("id", Value::Unsigned(7))];
        let fields = [("host", Value::Text("db1")), ("rows read", Value::Signed(-3))];
        let spans: [(&str, &dyn Fields); 2] = [("request", &request), ("query", &())];
        let record = Record { spans: &spans, ..record(format_args!("connected"), &fields) };
        assert_eq!(
            line(&Human::utc(), &record, WIDE),
            "2026-11-25T07:33:07.123456Z  INFO shop::db [worker-3] request{id=7}:query: connected host=db1 \"rows read\"=-3"
        );
    });
}

#[test]
fn levels_are_as_wide_as_each_other() {
    let levels = [Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];
    let lines = levels.map(|level| {
        let record = Record { level, ..record(format_args!("connected"), &()) };
        line(&Human::utc().digits(0).threads(false), &record, WIDE)
    });
    let expected = ["ERROR", " WARN", " INFO", "DEBUG", "TRACE"]
        .map(|level| format!("2026-11-25T07:33:07Z {level} shop::db: connected"));
    assert_eq!(lines, expected);
}

#[test]
fn the_place_in_the_source_is_said_if_it_is_wanted_and_known() {
    let at = |file, line| Record { file, line, ..record(format_args!("m"), &()) };
    let [known, nameless, unknown] =
        [at(Some("src/d\n.rs"), Some(12)), at(Some("a.rs"), None), at(None, None)];
    let human = Human::utc().digits(0).threads(false);
    let said =
        |record| line(&human.clone().places(true), record, WIDE).split_off("2026-11-25T07:33:07Z ".len());
    assert_eq!(said(&known), r" INFO shop::db src/d\n.rs:12: m");
    assert_eq!([said(&nameless), said(&unknown)], [" INFO shop::db a.rs: m", " INFO shop::db: m"]);
    let syslog = line(&Syslog::new(Facility::User, "t").threads(false).places(true), &known, WIDE);
    assert!(syslog.ends_with(r"INFO shop::db src/d\n.rs:12: m"), "{syslog}");
    let said = |record| {
        let text = line(&Json::utc().places(true), record, WIDE);
        let object: serde_json::Value = serde_json::from_str(&text).unwrap();
        [object["file"].clone(), object["line"].clone()]
    };
    assert_eq!(said(&known), [json!("src/d\n.rs"), json!(12)]);
    assert_eq!(said(&unknown), [json!(null), json!(null)]);
    assert!(!line(&human, &known, WIDE).contains("12") && json(&known).get("file").is_none());
}

#[test]
fn a_thread_without_a_name_has_its_number() {
    let unnamed = thread::spawn(|| line(&Human::utc(), &record(format_args!(""), &()), WIDE)).join().unwrap();
    assert!(unnamed.contains(" [ThreadId("), "{unnamed}");
}

#[test]
fn a_closure_is_a_format() {
    let format = |record: &Record<'_>, _: usize, out: &mut String| {
        out.push_str(record.level.name());
        record.thread(|name| out.push_str(name));
    };
    on_a_thread_named("!", || assert_eq!(line(&format, &record(format_args!(""), &()), WIDE), "INFO!"));
    let _: Box<dyn Format> = Box::new(format);
}

#[test]
fn values_for_people_cannot_be_taken_for_two() {
    let text = |text| human(format_args!("m"), &[("k", Value::Text(text))]);
    assert_eq!(text("plain"), "m k=plain");
    assert_eq!(text(""), r#"m k="""#);
    assert_eq!(text("bob admin=true"), r#"m k="bob admin=true""#);
    assert_eq!(text(r#"a "b" \"#), r#"m k="a \"b\" \\""#);
    assert_eq!(text("a b\n"), r#"m k="a b\n""#);
    assert_eq!(text(r"C:\temp"), r"m k=C:\temp");
    let debug = |value: &dyn fmt::Debug| human(format_args!("m"), &[("k", Value::Debug(value))]);
    assert_eq!(debug(&"quoted as Rust does\n"), r#"m k="quoted as Rust does\n""#);
    assert_eq!(debug(&Some("x")), r#"m k=Some("x")"#);
    assert_eq!(debug(&Some(" \"")), r#"m k="Some(\" \\\"\")""#);
    assert_eq!(debug(&format_args!(r#""bob" admin="true""#)), r#"m k="\"bob\" admin=\"true\"""#);
    assert_eq!(debug(&format_args!("")), r#"m k="""#);
    let display = |value: &dyn fmt::Display| human(format_args!("m"), &[("k", Value::Display(value))]);
    assert_eq!(display(&"x=1"), r#"m k="x=1""#);
    assert_eq!(display(&12), "m k=12");
    let key = human(format_args!("m"), &[("a b=\n", Value::Bool(true)), ("c", Value::Null)]);
    assert_eq!(key, r#"m "a b=\n"=true c=null"#);
}

#[derive(Debug)]
struct Fails(Option<Box<Fails>>);

impl fmt::Display for Fails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "no answer" } else { "timed out" })
    }
}

impl Error for Fails {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.as_deref().map(|cause| cause as _)
    }
}

#[test]
fn values_keep_their_types() {
    let error = Fails(Some(Fails(None).into()));
    let fields = [
        ("bool", Value::Bool(true)),
        ("signed", Value::Signed(i64::MIN.into())),
        ("unsigned", Value::Unsigned(u64::MAX.into())),
        ("above i64", Value::Signed(i128::from(i64::MAX) + 1)),
        ("long", Value::Unsigned(u128::MAX)),
        ("longer", Value::Signed(i128::MIN)),
        ("float", Value::Float(1.0)),
        ("small", Value::Float(1e-300)),
        ("nan", Value::Float(f64::NAN)),
        ("inf", Value::Float(f64::NEG_INFINITY)),
        ("null", Value::Null),
        ("error", Value::Error(&error)),
        ("debug", Value::Debug(&Some("x"))),
    ];
    let record = record(format_args!("m"), &fields);
    let expected = json!({
        "bool": true, "signed": i64::MIN, "unsigned": u64::MAX, "long": u128::MAX.to_string(),
        "longer": i128::MIN.to_string(), "above i64": "9223372036854775808", "float": 1.0, "small": 1e-300,
        "nan": "NaN", "inf": "-inf", "null": null, "error": "no answer: timed out", "debug": "Some(\"x\")",
    });
    assert_eq!(json(&record)["fields"], expected);
    let human = line(&Human::utc(), &record, WIDE);
    assert!(human.contains(" float=1.0 small=1e-300 nan=NaN inf=-inf "), "{human}");
    assert!(human.ends_with(r#" error="no answer: timed out" debug=Some("x")"#), "{human}");
}

#[test]
fn a_line_for_machines() {
    on_a_thread_named("worker-3", || {
        let fields = [("level", Value::Text("mine")), ("message", Value::Bool(false))];
        let request = [("name", Value::Unsigned(7))];
        let spans: [(&str, &dyn Fields); 2] = [("request", &request), ("query", &())];
        let record = record(format_args!("connected"), &fields);
        let plain = Record { fields: &(), ..record };
        assert_eq!(
            line(&Json::utc(), &plain, WIDE),
            r#"{"time":"2026-11-25T07:33:07.123456Z","level":"INFO","target":"shop::db","thread":"worker-3","message":"connected"}"#
        );
        assert_eq!(
            json(&Record { spans: &spans, ..record }),
            json!({
                "time": "2026-11-25T07:33:07.123456Z", "level": "INFO", "target": "shop::db",
                "thread": "worker-3", "message": "connected",
                "fields": { "level": "mine", "message": false },
                "spans": [{ "name": "request", "fields": { "name": 7 } }, { "name": "query" }],
            })
        );
    });
}

#[test]
fn equal_keys_lose_no_value() {
    let fields = ["a", "a#2", "a", "b\n", "b\n", "a", "a#2"];
    let fields: Vec<_> = fields.iter().zip(0..).map(|(&key, n)| (key, Value::Signed(n))).collect();
    let text = line(&Json::utc(), &record(format_args!("m"), &fields.as_slice()), WIDE);
    let expected = r#""fields":{"a":0,"a#2":1,"a#3":2,"b\n":3,"b\n#2":4,"a#4":5,"a#2#2":6}}"#;
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn a_line_for_the_systems_log() {
    let syslog = Syslog::new(Facility::Daemon, "shop: [x]\n").threads(false);
    let text = line(&syslog, &record(format_args!("a\nb"), &[("k", Value::Bool(true))]), WIDE);
    let local = jiff::tz::TimeZone::system().to_datetime(time().try_into().unwrap());
    let time = format!("Nov {} {:02}:{:02}:{:02}", local.day(), local.hour(), local.minute(), local.second());
    let expected = format!(r"<30>{time} shop___x__[{}]: INFO shop::db: a\nb k=true", std::process::id());
    assert_eq!(text, expected);
    for (level, number) in [(Level::Error, 131), (Level::Warn, 132), (Level::Info, 134), (Level::Trace, 135)]
    {
        let record = Record { level, ..record(format_args!(""), &()) };
        let text = line(&Syslog::new(Facility::Local0, "t"), &record, WIDE);
        assert!(text.starts_with(&format!("<{number}>")), "{text}");
    }
}
