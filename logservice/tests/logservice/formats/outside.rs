use std::fmt;

use fastrand::Rng;
use logservice::format::{Facility, Human, Json, Syslog};
use logservice::{Fields, Format, Record, Value};
use serde_json::json as object;

use super::{WIDE, json, line, record};

/// Random texts of all kinds of characters, including many dangerous characters. The texts are the same in
/// each run.
struct Texts(Rng);

impl Texts {
    fn character(&mut self) -> char {
        let below = match self.0.u32(..6) {
            0 => 0x20,
            1 | 2 => 0x80,
            3 => 0x100,
            4 => {
                return ['\u{2028}', '\u{2029}', '\u{202e}', '\u{2066}', '\u{85}', '\x1b', '"']
                    [self.0.usize(..7)];
            }
            _ => 0x11_0000,
        };
        char::from_u32(self.0.u32(..below)).unwrap_or('\u{fffd}')
    }

    fn text(&mut self) -> String {
        let length = self.0.u32(..60);
        (0..length).map(|_| self.character()).collect()
    }
}

/// Returns true if a character must be escaped; this code implements the rule differently from the tested code.
fn steers(c: char) -> bool {
    let sets_direction =
        "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
    c.is_control() || sets_direction.contains(c) || c == '\u{2028}' || c == '\u{2029}'
}

#[test]
fn texts_from_outside_forge_no_line_and_machines_read_them_back() {
    let mut texts = Texts(Rng::with_seed(1));
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
        let fields = object!({ &*key: &*text, "shown": shown, "debug": format!("{shown:?}") });
        assert_eq!(json["target"], target, "round {round}");
        assert_eq!(json["message"], message.to_string(), "round {round}");
        assert_eq!(json["fields"], fields, "round {round}");
        assert_eq!(json["spans"], object!([{ "name": span, "fields": fields }]), "round {round}");
    }
}

#[test]
fn a_line_that_is_cut_keeps_to_its_length_and_says_so() {
    let mut texts = Texts(Rng::with_seed(2));
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
