//! Tests the records of a page: the timeline, the frames and the report.

use executor::CancelToken;
use renderer::frames::Frames;
use renderer::layout::{Area, LayoutOptions};
use renderer::page::{PageLimits, Viewport};
use renderer::report::{Missing, Report};
use renderer::{Activity, Canvas, Gap, Layout, Page, Timeline};
use std::fs;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use url::Url;

#[test]
fn each_thread_has_a_lane_and_each_bar_a_tooltip() {
    let timeline = Timeline::start();
    let other = timeline.clone();
    let name = "worker <1> & \"co\"".to_owned();
    let worker = thread::Builder::new()
        .name(name)
        .spawn(move || drop(other.bar(Activity::Decoding, "a\u{1b}[31m<b>\n.png")));
    worker.unwrap().join().unwrap();
    drop(timeline.bar(Activity::Painting, "text"));
    timeline.mark("whole page");
    let svg = timeline.svg("a < b & c");
    for part in [
        "worker &lt;1&gt; &amp; &quot;co&quot;",
        "decoding a[31m&lt;b&gt;.png",
        "painting text",
        "whole page",
        "a &lt; b &amp; c",
    ] {
        assert!(svg.contains(part), "no {part:?} in {svg}");
    }
    assert!(!svg.contains("<b>") && !svg.contains('\u{1b}'));
    assert_eq!(svg.matches("<rect class=\"bar s1\"").count(), 2, "the bar, and the legend");
}

#[test]
fn no_title_makes_the_drawing_something_else_than_xml() {
    let svg = Timeline::start().svg("a ]]> b \u{fffe}\u{ffff}\u{0}<script>");
    assert!(svg.contains("a ]]&gt; b &lt;script&gt;"), "{svg}");
    assert!(!svg.contains("]]>") && !svg.contains(['\u{fffe}', '\u{ffff}', '\u{0}']));
}

/// A bar is recorded when it ends, so the outer bar is recorded last.
#[test]
fn a_bar_within_another_one_is_drawn_on_top_of_it() {
    let timeline = Timeline::start();
    let outer = timeline.bar(Activity::Waiting, "outer");
    drop(timeline.bar(Activity::Painting, "inner"));
    drop(outer);
    let svg = timeline.svg("nested");
    assert!(svg.find("waiting for outer").unwrap() < svg.find("painting inner").unwrap());
}

#[test]
fn a_timeline_has_bounds_and_says_what_it_leaves_out() {
    let timeline = Timeline::start();
    for number in 0..20_010 {
        drop(timeline.bar(Activity::Painting, format!("{number}")));
    }
    for _ in 0..50 {
        let other = timeline.clone();
        thread::spawn(move || drop(other.bar(Activity::Waiting, "long"))).join().unwrap();
    }
    let svg = timeline.svg("many");
    assert!(svg.contains("not drawn: 11 threads, 60 bars"), "{}", &svg[svg.len() - 200..]);
}

#[test]
fn an_empty_timeline_is_a_drawing_too() {
    assert!(Timeline::start().svg("nothing").ends_with("</svg>\n"));
}

/// A time limit that passes only if the test hangs.
const WATCHDOG: Duration = Duration::from_secs(30);

const WHOLE: Area = Area { x: 0, y: 0, width: 3, height: 2 };

fn pixels(colour: u8) -> Vec<u8> {
    [colour, 100, 200, 255].repeat(6)
}

fn frames(directory: &Path) -> Frames {
    Frames::into(directory.to_owned(), (3, 2), Timeline::start(), CancelToken::new()).unwrap()
}

#[test]
fn frames_are_files_and_an_animation_with_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made/here");
    let frames = frames(&path);
    for (at, colour) in [(0, 1), (30, 2), (40, 2), (100, 3)] {
        frames.add(Duration::from_millis(at), WHOLE, pixels(colour));
    }
    frames.finish().unwrap();
    let mut reader = png::Decoder::new(BufReader::new(fs::File::open(path.join("animation.png")).unwrap()))
        .read_info()
        .unwrap();
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    let mut shown = Vec::new();
    for _ in 0..reader.info().animation_control().unwrap().num_frames {
        reader.next_frame(&mut buffer).unwrap();
        let control = reader.info().frame_control().unwrap();
        shown.push((buffer[0], control.delay_num, control.delay_den));
    }
    assert_eq!(
        shown,
        [(1, 30, 1000), (2, 70, 1000), (3, 2000, 1000)],
        "one that is the same as before is no frame"
    );
    assert_eq!(image::open(path.join("frame-0002.png")).unwrap().into_rgb8().as_raw()[..3], [2, 100, 200]);
}

/// Even if there are very many frames, the last frame is the finished page.
#[test]
fn beyond_a_thousand_frames_the_last_one_is_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let frames = frames(folder.path());
    let pixel = Area { x: 2, y: 1, width: 1, height: 1 };
    for number in 0..1010_u32 {
        let [.., high, low] = number.to_be_bytes();
        frames.add(Duration::from_millis(number.into()), pixel, vec![high, low, 7, 255]);
    }
    frames.finish().unwrap();
    let last = image::open(folder.path().join("frame-1000.png")).unwrap().into_rgb8();
    assert_eq!(last.as_raw()[15..], [0x03, 0xf1, 7], "number 1009");
    assert_eq!(last.as_raw()[..15], [0; 15], "what did not change");
    assert!(!folder.path().join("frame-1001.png").exists());
}

#[test]
fn frames_of_an_earlier_run_go_and_other_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["frame-0009.png", "animation.png", "frame-ours.png", "frame-0009.txt", "picture.png"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let frames = frames(folder.path());
    frames.add(Duration::ZERO, WHOLE, pixels(1));
    frames.finish().unwrap();
    let mut left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort_unstable();
    assert_eq!(left, ["animation.png", "frame-0001.png", "frame-0009.txt", "frame-ours.png", "picture.png"]);
}

/// The first frame is written to a pipe without a reader, so the test decides how long the write takes.
#[cfg(unix)]
#[test]
fn who_paints_does_not_wait_for_the_frames() {
    let folder = tempfile::tempdir().unwrap();
    let timeline = Timeline::start();
    let frames =
        Frames::into(folder.path().to_owned(), (3, 2), timeline.clone(), CancelToken::new()).unwrap();
    let pipe = folder.path().join("frame-0001.png");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it is everywhere").success());
    let (added, all_added) = mpsc::channel();
    let painter = thread::spawn(move || {
        for colour in 1..=3 {
            frames.add(Duration::from_millis(colour.into()), WHOLE, pixels(colour));
        }
        added.send(frames).unwrap();
    });
    let frames = all_added.recv_timeout(WATCHDOG).expect("the painter waits for the first frame");
    let first = fs::read(&pipe).unwrap();
    fs::write(folder.path().join("first"), first).unwrap();
    fs::rename(folder.path().join("first"), &pipe).unwrap();
    painter.join().unwrap();
    frames.finish().unwrap();
    assert_eq!([1, 2, 3].map(|number| colour_of(folder.path(), number)), [Some(1), Some(2), Some(3)]);
    assert!(timeline.svg("frames").contains("writing frame 2"));
}

/// After a signal, the program skips unwritten frames, except for the last one, which shows the
/// final page.
#[test]
fn after_a_signal_the_last_frame_is_written_and_none_before_it() {
    let (folder, stop) = (tempfile::tempdir().unwrap(), CancelToken::new());
    stop.cancel();
    let frames = Frames::into(folder.path().to_owned(), (3, 2), Timeline::start(), stop).unwrap();
    for colour in 1..=3 {
        frames.add(Duration::from_millis(colour.into()), WHOLE, pixels(colour));
    }
    frames.finish().unwrap();
    assert_eq!([1, 2].map(|number| colour_of(folder.path(), number)), [Some(3), None]);
}

/// Returns the colour of a frame, if the frame exists.
fn colour_of(folder: &Path, number: usize) -> Option<u8> {
    Some(image::open(folder.join(format!("frame-{number:04}.png"))).ok()?.into_rgb8().as_raw()[0])
}

/// Only the pixels that have been painted wait to be written.
#[test]
fn a_frame_takes_the_pixels_that_changed_and_no_others() {
    let base = Url::parse("http://h.example/").unwrap();
    let limits = PageLimits { elements: 10, text: 100, viewport: Viewport::USUAL };
    let page = Page::parse(b"<p>words<img src=a width=30 height=20><hr>", None, &base, limits).unwrap();
    let options = LayoutOptions { width: 400, scale: 1.0, font: None, max_pixels: 1 << 20 };
    let mut canvas = Canvas::new(Layout::new(&page, &options).unwrap());
    let (width, height) = canvas.layout().size();
    let area = |canvas: &mut Canvas| {
        canvas.take_changed().map(|(area, pixels)| {
            assert_eq!(pixels.len(), area.width as usize * area.height as usize * 4);
            area
        })
    };
    assert_eq!(area(&mut canvas), Some(Area { x: 0, y: 0, width, height }));
    assert_eq!(area(&mut canvas), None);
    for place in [1, 2] {
        canvas.paint_text(place);
        canvas.paint_gap(place, "", "gone");
        assert_eq!(area(&mut canvas), canvas.layout().area(place), "{place}");
    }
    canvas.paint_text(0);
    assert!(area(&mut canvas).is_some_and(|area| area.width == width && area.height < height / 2));
}

fn report() -> Report {
    Report {
        strategy: "sequential",
        page: "http://example.org/".to_owned(),
        title: Some("A \u{1b}[2J title".to_owned()),
        text: Some(Duration::from_micros(12_340)),
        whole: Duration::from_millis(1234),
        images: 2,
        ..Report::default()
    }
}

fn missing(place: usize) -> Missing {
    let address = format!("http://example.org/{}.png", "x".repeat(200));
    Missing { place, address, why: Gap::Status(404), after: Duration::from_millis(5) }
}

#[test]
fn a_table_fits_the_terminal_and_cannot_change_it() {
    let mut report = report();
    report.failed = (0..30).map(missing).collect();
    let table = report.table(60);
    assert!(!table.contains('\u{1b}'), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 60), "{table}");
    for part in ["12 ms", "never", "1.23 s", "0 of 2", "the server answered 404", "and 10 more"] {
        assert!(table.contains(part), "no {part:?} in\n{table}");
    }
    let address = "http://example.org/";
    assert!(report.table(200).contains(address) && report.table(30).contains("http"), "{}", report.table(30));
    report.title = Some("left \u{202e}thgir\u{2028}".to_owned());
    assert!(!report.table(100).contains(['\u{202e}', '\u{2028}']));
    let _narrow = report.table(0);
}

#[test]
fn json_has_what_machines_ask_for() {
    let mut report = report();
    report.failed.push(missing(3));
    report.more.push(("quotes", 7.into()));
    let json = report.json();
    assert_eq!(json["text_ms"], 12.3);
    assert!(json["first_image_ms"].is_null());
    assert_eq!((&json["page_ms"], &json["images"], &json["quotes"]), (&1234.0.into(), &2.into(), &7.into()));
    assert_eq!(
        (&json["failed"][0]["place"], &json["failed"][0]["reason"]),
        (&3.into(), &"the server answered 404".into())
    );
}

#[test]
fn the_exit_status_tells_gaps_from_a_signal() {
    let mut report = report();
    assert_eq!(report.exit_status(), 0);
    report.replaced.push(missing(1));
    assert_eq!(report.exit_status(), 0, "what was replaced is no gap");
    report.left_out = 1;
    assert_eq!(report.exit_status(), 3);
    report.left_out = 0;
    report.failed.push(missing(1));
    assert_eq!(report.exit_status(), 3);
    report.interrupted = true;
    assert_eq!(report.exit_status(), 130);
}
