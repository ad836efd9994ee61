//! The result of drawing a page: a table for human readers, JSON for programs, and an exit status for
//! shells.

use crate::gap::Gap;
use crate::layout::{Area, NoGlyph};
use command_line::{GAPS, INTERRUPTED};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// How many missing images the table names.
const MOST_ROWS: usize = 20;

/// The result of drawing a page.
#[derive(Debug, Default)]
pub struct Report {
    /// The name of the strategy.
    pub strategy: &'static str,
    /// The address of the page.
    pub page: String,
    /// The title of the page.
    pub title: Option<String>,
    /// The time from the program's start until the text was painted.
    pub text: Option<Duration>,
    /// The time until the first image had been painted.
    pub first_image: Option<Duration>,
    /// The time until everything had been painted.
    pub whole: Duration,
    /// The number of images on the page.
    pub images: usize,
    /// How many images are in the picture.
    pub painted: usize,
    /// How many bytes were fetched, including the bytes of the page.
    pub bytes: u64,
    /// The images that are missing, with their reasons.
    pub failed: Vec<Missing>,
    /// How many images were replaced because they did not arrive in time. A replaced image does not count
    /// as a gap.
    pub replaced: Vec<Missing>,
    /// The width and height of the picture.
    pub size: (u32, u32),
    /// The changes that the reader has seen on the screen, in order.
    pub seen: Vec<Seen>,
    /// The values that the program itself adds to the JSON, with their names.
    pub more: Vec<(&'static str, Value)>,
    /// True if the page has neither words nor images.
    pub is_empty: bool,
    /// How many elements were left out because the page exceeds its limits on elements or text.
    pub left_out: usize,
    /// How many elements lie below the end of the picture.
    pub cut: usize,
    /// The characters that became boxes in the picture.
    pub no_glyph: NoGlyph,
    /// True if a signal has ended the program.
    pub interrupted: bool,
}

/// A change on the screen that the reader has seen.
#[derive(Debug)]
pub struct Seen {
    /// What the part of the picture shows now: `text`, `image`, `replaced` or `gap`.
    pub what: &'static str,
    /// The part of the picture that changed; `None` if the change does not belong to a single part.
    pub area: Option<Area>,
    /// When the reader saw the change, as the time since the program's start.
    pub at: Duration,
}

/// An image that the picture lacks.
#[derive(Debug)]
pub struct Missing {
    /// The place of the image on the page.
    pub place: usize,
    /// The address of the image; empty if it has none.
    pub address: String,
    /// Why.
    pub why: Gap,
    /// When the program knew that the image is missing, as the time since the program's start.
    pub after: Duration,
}

impl Report {
    /// Returns a table for human readers, at most `columns` wide. Names that come from the page cannot
    /// change the state of the terminal.
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

    /// Returns the result as JSON. All times are milliseconds since the program's start, or `null` if an
    /// event did not happen.
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
            "size": self.size,
            "seen": self.seen.iter().map(Seen::json).collect::<Vec<_>>(),
        });
        for (name, value) in &self.more {
            all[name] = value.clone();
        }
        all
    }

    /// Returns the exit status: 0 if the picture is complete, 3 if it has gaps or boxes, and 130 if a
    /// signal ended the program.
    pub fn exit_status(&self) -> u8 {
        match () {
            () if self.interrupted => INTERRUPTED,
            () if !self.failed.is_empty() || self.left_out + self.cut + self.no_glyph.count > 0 => GAPS,
            () => 0,
        }
    }
}

impl Seen {
    fn json(&self) -> Value {
        let area = self.area.map(|Area { x, y, width, height }| [x, y, width, height]);
        json!({ "what": self.what, "area": area, "ms": milliseconds(self.at) })
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

/// Cuts a text off at its end so that it fits into `columns` columns.
fn shortened(text: &str, columns: usize) -> String {
    let clean = harmless(text);
    if clean.chars().count() <= columns {
        return clean;
    }
    let kept: String = clean.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Shortens an address so that it fits into `columns` columns: keeps its beginning and its end.
fn shortened_in_the_middle(text: &str, columns: usize) -> String {
    let clean: Vec<char> = harmless(text).chars().collect();
    if clean.len() <= columns {
        return clean.into_iter().collect();
    }
    let kept = columns.saturating_sub(1);
    let (begin, end) = (&clean[..kept / 2], &clean[clean.len() - kept.div_ceil(2)..]);
    begin.iter().chain(&['…']).chain(end).collect()
}

/// Returns a text that can change neither the state of the terminal nor the direction of its line.
fn harmless(text: &str) -> String {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || turns(c) { '\u{fffd}' } else { c }).collect()
}
