//! What became of a page: for people a table, for machines JSON, for shells an exit status.

use crate::gap::Gap;
use crate::layout::NoGlyph;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// Missing images that the table names.
const MOST_ROWS: usize = 20;

/// The exit status of a picture with gaps, and of a run that a signal has ended, as shells count it.
const GAPS: u8 = 3;
const INTERRUPTED: u8 = 130;

/// What became of a page.
#[derive(Debug, Default)]
pub struct Report {
    /// The strategy's name.
    pub strategy: &'static str,
    /// The page's address.
    pub page: String,
    /// Its title.
    pub title: Option<String>,
    /// When the text was there, since the program began.
    pub text: Option<Duration>,
    /// When the first image was.
    pub first_image: Option<Duration>,
    /// When all was.
    pub whole: Duration,
    /// Images on the page.
    pub images: usize,
    /// Those of them that are in the picture.
    pub painted: usize,
    /// Bytes that were fetched, the page's among them.
    pub bytes: u64,
    /// What is missing.
    pub failed: Vec<Missing>,
    /// What was replaced by something else, since it was not there in time. That is no gap.
    pub replaced: Vec<Missing>,
    /// What a program adds for machines: names and values.
    pub more: Vec<(&'static str, Value)>,
    /// Whether the page has neither words nor images.
    pub is_empty: bool,
    /// Elements that are not on the page, since it has more of them, or more text, than a page may have.
    pub left_out: usize,
    /// Elements that are below the end of the picture.
    pub cut: usize,
    /// Characters that are boxes in the picture.
    pub no_glyph: NoGlyph,
    /// Whether a signal ended it.
    pub interrupted: bool,
}

/// An image that is not in the picture.
#[derive(Debug)]
pub struct Missing {
    /// Its place on the page.
    pub place: usize,
    /// Its address; empty if it has none.
    pub address: String,
    /// Why.
    pub why: Gap,
    /// When that was known, since the program began.
    pub after: Duration,
}

impl Report {
    /// A table for people, of at most so many columns. Names that strangers have made cannot change the terminal.
    pub fn table(&self, columns: usize) -> String {
        let mut table = String::new();
        let mut row = |name: &str, value: String| {
            let _ = writeln!(table, "{name:<13}{}", shortened(&value, columns.saturating_sub(13)));
        };
        row("strategy", self.strategy.to_owned());
        row(
            "page",
            self.title.clone().filter(|title| !title.is_empty()).unwrap_or_else(|| self.page.clone()),
        );
        row("text", self.text.map_or("never".to_owned(), time));
        row("first image", self.first_image.map_or("never".to_owned(), time));
        row("whole page", time(self.whole));
        row("images", format!("{} of {}", self.painted, self.images));
        row("bytes", bytes(self.bytes));
        if self.is_empty {
            row("empty", "neither words nor images; scripts are not run".to_owned());
        }
        if self.cut > 0 {
            row("left out", format!("{} elements below the end; more --max-pixels show more", self.cut));
        }
        if self.left_out > 0 {
            row("left out", format!("{} elements, more than a page may have", self.left_out));
        }
        if self.no_glyph.count > 0 {
            let NoGlyph { count, examples } = &self.no_glyph;
            row("no glyph", format!("{count} characters, as {examples}; --font takes a font that has them"));
        }
        for (title, list) in [("missing", &self.failed), ("replaced", &self.replaced)] {
            if !list.is_empty() {
                let _ = writeln!(table, "{title}:");
            }
            for missing in list.iter().take(MOST_ROWS) {
                table.push_str(&missing.row(columns));
            }
            if list.len() > MOST_ROWS {
                let _ = writeln!(table, "  and {} more", list.len() - MOST_ROWS);
            }
        }
        if self.interrupted {
            table.push_str("stopped by a signal\n");
        }
        table
    }

    /// The same for machines. Times are milliseconds since the program began, `null` for what never was.
    pub fn json(&self) -> Value {
        let mut all = json!({
            "strategy": self.strategy,
            "page": self.page,
            "title": self.title,
            "text_ms": self.text.map(milliseconds),
            "first_image_ms": self.first_image.map(milliseconds),
            "page_ms": milliseconds(self.whole),
            "images": self.images,
            "painted": self.painted,
            "bytes": self.bytes,
            "failed": self.failed.iter().map(Missing::json).collect::<Vec<_>>(),
            "replaced": self.replaced.iter().map(Missing::json).collect::<Vec<_>>(),
            "empty": self.is_empty,
            "left_out": self.left_out + self.cut,
            "cut": self.cut,
            "no_glyph": { "count": self.no_glyph.count, "examples": self.no_glyph.examples },
            "interrupted": self.interrupted,
        });
        for (name, value) in &self.more {
            all[name] = value.clone();
        }
        all
    }

    /// 0 if all is in the picture, 3 if there are gaps or boxes in place of characters, 130 if a signal ended it.
    pub fn exit_status(&self) -> u8 {
        match () {
            () if self.interrupted => INTERRUPTED,
            () if !self.failed.is_empty() || self.left_out + self.cut + self.no_glyph.count > 0 => GAPS,
            () => 0,
        }
    }
}

impl Missing {
    fn row(&self, columns: usize) -> String {
        let reason = format!("  {:>4}  {} ({})", self.place, self.why, time(self.after));
        let reason = shortened(&reason, columns);
        let room = columns.saturating_sub(reason.chars().count() + 2);
        let address = if self.address.is_empty() { "no address" } else { &self.address };
        if room < 12 {
            let below = columns.saturating_sub(8);
            return format!("{reason}\n        {}\n", shortened_in_the_middle(address, below));
        }
        format!("{reason}  {}\n", shortened_in_the_middle(address, room))
    }

    fn json(&self) -> Value {
        json!({
            "place": self.place,
            "address": self.address,
            "reason": self.why.to_string(),
            "after_ms": milliseconds(self.after),
        })
    }
}

fn time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}

fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count}"),
        10_000..10_000_000 => format!("{} KiB", count >> 10),
        _ => format!("{} MiB", count >> 20),
    }
}

/// A text that has room in so many columns, cut off at its end.
fn shortened(text: &str, columns: usize) -> String {
    let clean = harmless(text);
    if clean.chars().count() <= columns {
        return clean;
    }
    let kept: String = clean.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// The same, with the beginning and the end of an address.
fn shortened_in_the_middle(text: &str, columns: usize) -> String {
    let clean: Vec<char> = harmless(text).chars().collect();
    if clean.len() <= columns {
        return clean.into_iter().collect();
    }
    let kept = columns.saturating_sub(1);
    let (begin, end) = (&clean[..kept / 2], &clean[clean.len() - kept.div_ceil(2)..]);
    begin.iter().chain(&['…']).chain(end).collect()
}

/// A text that cannot change the terminal, nor the order in which its line reads.
fn harmless(text: &str) -> String {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || turns(c) { '\u{fffd}' } else { c }).collect()
}
