//! What formats make of records: for each text from outside one line, whole or with a sign that something is missing.

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
    Record { time: time(), level: Level::Info, target: "shop::db", message, fields, spans: &[] }
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

/// Texts of all kinds of characters, the dangerous ones often. The same ones in each run.
struct Texts(u64);

impl Texts {
    fn number(&mut self, below: u64) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }

    fn character(&mut self) -> char {
        let below = match self.number(6) {
            0 => 0x20,
            1 | 2 => 0x80,
            3 => 0x100,
            4 => {
                return ['\u{2028}', '\u{2029}', '\u{202e}', '\u{2066}', '\u{85}', '\x1b', '"']
                    [self.number(7) as usize];
            }
            _ => 0x11_0000,
        };
        char::from_u32(self.number(below) as u32).unwrap_or('\u{fffd}')
    }

    fn text(&mut self) -> String {
        let length = self.number(60);
        (0..length).map(|_| self.character()).collect()
    }
}

/// The rule, said in another way than in the code.
fn steers(c: char) -> bool {
    let sets_direction =
        "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
    c.is_control() || sets_direction.contains(c) || c == '\u{2028}' || c == '\u{2029}'
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
        let record = record(format_args!("{}", "connected"), &fields);
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
fn texts_from_outside_forge_no_line_and_machines_read_them_back() {
    let mut texts = Texts(1);
    for round in 0..3_000 {
        let [target, message, key, text, shown, span] = [(); 6].map(|()| texts.text());
        let fields =
            [(&*key, Value::Text(&text)), ("shown", Value::Display(&shown)), ("debug", Value::Debug(&shown))];
        let spans: [(&str, &dyn Fields); 1] = [(&span, &fields)];
        let message = format_args!("{message}");
        let record = Record { target: &target, spans: &spans, ..record(message, &fields) };
        for format in [&Human::utc() as &dyn Format, &Syslog::new(Facility::User, &key)] {
            let mut out = String::new();
            format.line(&record, WIDE, &mut out);
            assert!(!out.contains(steers), "round {round}: {out:?}");
        }
        let text_of_json = line(&Json::utc(), &record, WIDE);
        assert!(!text_of_json.contains(steers), "round {round}: {text_of_json:?}");
        let json = json(&record);
        let fields = json!({ &*key: &*text, "shown": shown, "debug": format!("{shown:?}") });
        assert_eq!(json["target"], target, "round {round}");
        assert_eq!(json["message"], message.to_string(), "round {round}");
        assert_eq!(json["fields"], fields, "round {round}");
        assert_eq!(json["spans"], json!([{ "name": span, "fields": fields }]), "round {round}");
    }
}

#[test]
fn a_line_that_is_cut_keeps_to_its_length_and_says_so() {
    let mut texts = Texts(2);
    for round in 0..4 {
        let [message, key, text, span] = [(); 4].map(|()| texts.text());
        let fields = [
            (&*key, Value::Text(&text)),
            ("n", Value::Signed(-1_234)),
            ("x", Value::Float(0.25)),
            ("debug", Value::Debug(&text)),
        ];
        let spans: [(&str, &dyn Fields); 2] = [(&span, &fields), ("inner", &fields)];
        let message = format_args!("{message}");
        let record = Record { spans: &spans, ..record(message, &fields) };
        let whole = line(&Human::utc(), &record, WIDE);
        for longest in 0..=whole.len() {
            let cut = line(&Human::utc(), &record, longest);
            assert!(cut.len() <= longest, "round {round}: {} of {longest}: {cut:?}", cut.len());
            if longest == whole.len() {
                assert_eq!(cut, whole);
            } else if longest >= 64 {
                let (kept, mark) = cut.rsplit_once("… ").unwrap();
                assert!(whole.starts_with(kept));
                let missing: usize = mark.strip_suffix(" bytes cut").unwrap().parse().unwrap();
                assert!(missing >= whole.len() - kept.len(), "round {round}, {longest}");
            }
        }
        let whole = line(&Json::utc(), &record, WIDE);
        for longest in 0..=whole.len() + 40 {
            let cut = line(&Json::utc(), &record, longest);
            assert!(cut.len() <= longest.max(48), "round {round}: {} of {longest}: {cut}", cut.len());
            let json: serde_json::Value =
                serde_json::from_str(&cut).unwrap_or_else(|error| panic!("round {round}: {error}: {cut}"));
            assert_eq!(json.get("cut").is_none(), cut == whole, "round {round}, {longest}: {cut}");
        }
    }
}

#[test]
fn what_is_cut_has_a_sign_where_it_ends() {
    let blob = "x".repeat(1_000);
    let fields = [("blob", Value::Text(&blob)), ("n", Value::Signed(1))];
    let text = line(&Json::utc(), &record(format_args!("m"), &fields), 300);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let blob = json["fields"]["blob"].as_str().unwrap();
    assert!(blob.ends_with("x…"), "{text}");
    assert_eq!(json["fields"].get("n"), None, "it found no room");
    let kept = blob.len() - "…".len();
    assert_eq!(json["cut"], 1_000 - kept + r#","n":1"#.len());
    assert!(text.len() > 260, "as much as there is room for: {}", text.len());
}

#[test]
fn a_giant_value_takes_no_memory() {
    struct Giant;
    impl fmt::Display for Giant {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (0..1_000).try_for_each(|_| f.write_str(&"€".repeat(1_000)))
        }
    }
    for format in [&Human::utc() as &dyn Format, &Json::utc()] {
        let mut out = String::with_capacity(1_024);
        format.line(&record(format_args!("{Giant}"), &[("k", Value::Display(&Giant))]), 1_000, &mut out);
        assert!(out.capacity() == 1_024 && out.len() <= 1_000, "{}", out.capacity());
        assert!(out.contains("€…"), "{out}");
    }
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
