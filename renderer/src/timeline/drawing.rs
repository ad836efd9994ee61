//! Draws the bars of the timeline as SVG. The colour, the height and the tooltip of a bar show what
//! the bar means.

use super::{Activity, Drawn, Noted};
use charts::{Anchor, Axis, Drawing, Scale, escaped};
use std::time::Duration;

const LEFT: f64 = 170.0;
const WIDTH: f64 = 660.0;
const TOP: f64 = 76.0;
const LANE: f64 = 26.0;
const BAR: f64 = 18.0;

/// How many lanes are drawn at most: the lanes of the busiest threads.
const MOST_LANES: usize = 40;

/// The width of a letter in pixels. The width of a letter determines how much of a bar's name fits into the
/// bar.
const LETTER: f64 = 6.2;

/// How many characters of a name are drawn at most.
const LONGEST_NAME: usize = 60;

pub(super) fn svg(noted: &Noted, title: &str) -> String {
    let shown = lanes(noted);
    let times = noted.bars.iter().map(|bar| bar.to).chain(noted.marks.iter().map(|(at, _)| *at));
    let axis = Axis::new("", Scale::Linear(10), |seconds| time(Duration::from_secs_f64(seconds)));
    let axis = axis.covering(times.map(|at| at.as_secs_f64()));
    let x = |at: Duration| LEFT + WIDTH * axis.place(at.as_secs_f64());
    let bottom = TOP + LANE * shown.len() as f64;
    let mut drawing = Drawing::default();
    legend(&mut drawing, noted);
    for (place, label) in axis.ticks() {
        let x = LEFT + WIDTH * place;
        drawing.line("grid", (x, TOP), (x, bottom));
        drawing.label(x, bottom + 16.0, Anchor::Middle, &label);
    }
    for (row, lane) in shown.iter().enumerate() {
        let y = TOP + LANE * row as f64;
        drawing.label(LEFT - 8.0, y + 17.0, Anchor::End, &noted.lanes[*lane].1);
        let mut bars: Vec<_> = noted.bars.iter().filter(|bar| bar.lane == *lane).collect();
        bars.sort_by_key(|bar| (bar.from, std::cmp::Reverse(bar.to))); // inner bars on top
        for bar in bars {
            draw_bar(&mut drawing, bar, x(bar.from), x(bar.to), y + f64::midpoint(LANE, BAR));
        }
    }
    for (row, (at, what)) in noted.marks.iter().enumerate() {
        let (x, y) = (x(*at), TOP - 4.0 - 11.0 * (row % 2) as f64);
        drawing.line("mark", (x, TOP), (x, bottom));
        drawing.label(x, y, Anchor::Middle, what);
    }
    let hidden = noted.lanes.len() - shown.len();
    if hidden + noted.left_out > 0 {
        let words = format!("not drawn: {hidden} threads, {} bars", noted.left_out);
        drawing.label(12.0, bottom + 36.0, Anchor::Start, &words);
    }
    drawing.svg(title, "", LEFT + WIDTH + 30.0, bottom + 46.0)
}

/// Returns the lanes of the busiest threads, in the order in which these threads began.
fn lanes(noted: &Noted) -> Vec<usize> {
    let mut busy: Vec<_> = (0..noted.lanes.len()).map(|lane| (Duration::ZERO, lane)).collect();
    for bar in &noted.bars {
        busy[bar.lane].0 += bar.to.saturating_sub(bar.from);
    }
    busy.sort_by_key(|(time, lane)| (std::cmp::Reverse(*time), *lane));
    let mut shown: Vec<_> = busy.into_iter().take(MOST_LANES).map(|(_, lane)| lane).collect();
    shown.sort_unstable();
    shown
}

fn draw_bar(drawing: &mut Drawing, bar: &Drawn, left: f64, right: f64, bottom: f64) {
    let (class, verb, height) = look(bar.activity);
    let y = bottom - height;
    // The name may come from an unknown source, so it must be escaped.
    let what = escaped(&bar.what.chars().take(LONGEST_NAME).collect::<String>());
    let (width, times) = ((right - left).max(0.8), format!("{} to {}", time(bar.from), time(bar.to)));
    drawing.add(format_args!(
        r#"<g><title>{verb} {what}, {times}</title><rect class="{class}" x="{left:.1}" y="{y:.1}" width="{width:.1}" height="{height}" rx="2"/>"#
    ));
    let room = ((width - 6.0) / LETTER).max(0.0);
    let may_have_text = bar.activity != Activity::Waiting && height > BAR / 2.0;
    if may_have_text && what.chars().count() as f64 <= room {
        let (x, y) = (left + 4.0, y + height / 2.0 + 4.0);
        drawing.add(format_args!(r#"<text class="within" x="{x:.1}" y="{y:.1}">{what}</text>"#));
    }
    drawing.add("</g>");
}

/// Draws the legend of the colours; the legend shows the colour of frames only if there are frames.
fn legend(drawing: &mut Drawing, noted: &Noted) {
    let has_frames = noted.bars.iter().any(|bar| bar.activity == Activity::Writing);
    let all =
        [Activity::Waiting, Activity::Fetching, Activity::Decoding, Activity::Painting, Activity::Writing];
    for (number, activity) in all.into_iter().take(4 + usize::from(has_frames)).enumerate() {
        let (x, (class, verb, height)) = (LEFT + 110.0 * number as f64, look(activity));
        let y = 47.0 - height;
        drawing.add(format_args!(
            r#"<rect class="{class}" x="{x}" y="{y}" width="16" height="{height}" rx="2"/>"#
        ));
        drawing.label(x + 21.0, 44.0, Anchor::Start, verb);
    }
}

/// Returns the classes of a bar, its text, and its height.
fn look(activity: Activity) -> (&'static str, &'static str, f64) {
    match activity {
        Activity::Waiting => ("empty", "waiting for", BAR),
        Activity::Fetching => ("bar s0", "fetching", BAR),
        Activity::Decoding => ("bar s1", "decoding", BAR * 0.7),
        Activity::Painting => ("bar s2", "painting", BAR * 0.4),
        Activity::Writing => ("bar s3", "writing", BAR),
    }
}

fn time(at: Duration) -> String {
    if at >= Duration::from_millis(10) || at.is_zero() {
        format!("{} ms", at.as_millis())
    } else {
        format!("{:.2} ms", at.as_secs_f64() * 1e3)
    }
}
