//! Tests the programs as a shell sees them: arguments, exit status, files, signals.

use crate::gated::{Answer, Gated};
use serde_json::Value;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PAGE_PROGRAMS: [&str; 5] = ["sequential", "future", "completion_service", "time_budget", "starving"];

/// A time limit that passes only if the test hangs.
const WATCHDOG: Duration = Duration::from_secs(30);

pub(crate) fn program(name: &str) -> Command {
    // All programs are in the same directory.
    let path = Path::new(env!("CARGO_BIN_EXE_future")).with_file_name(name);
    let mut command = Command::new(path.with_extension(env::consts::EXE_EXTENSION));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The result of a run that has ended.
pub(crate) struct Run {
    pub(crate) output: Output,
    pub(crate) folder: TempDir,
}

impl Run {
    /// Runs a program to its end, in a separate directory.
    pub(crate) fn of(name: &str, arguments: &[&str]) -> Run {
        let folder = tempfile::tempdir().expect("a directory");
        let child = program(name).args(arguments).current_dir(folder.path()).spawn().expect("it was built");
        Run { output: ended(child), folder }
    }

    pub(crate) fn status(&self) -> Option<i32> {
        self.output.status.code()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stderr()))
    }

    pub(crate) fn picture(&self) -> Option<image::RgbImage> {
        image::open(self.folder.path().join("page.png")).ok().map(image::DynamicImage::into_rgb8)
    }
}

pub(crate) fn ended(mut child: Child) -> Output {
    let end = Instant::now() + WATCHDOG;
    while child.try_wait().expect("it is ours").is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(5)); // the standard library cannot wait with a limit
    }
    child.wait_with_output().expect("it has ended")
}

/// Returns a flag that keeps a program from giving up an advertisement on a slow machine.
fn patient(name: &str) -> &'static [&'static str] {
    if name == "time_budget" { &["--budget", "10m"] } else { &[] }
}

/// Runs a program with a time limit, which must end the program. If the machine is so slow that the other
/// images are not finished in time, the next attempt has a longer limit.
fn with_a_limit(run: impl Fn(&str) -> Run, was_too_slow: impl Fn(&Run) -> bool) -> (Run, &'static str) {
    let mut runs = ["500ms", "2s", "8s", "20s"].into_iter().map(|limit| (run(limit), limit));
    runs.find(|(run, _)| !was_too_slow(run)).expect("the machine is too slow for 20 s")
}

#[test]
fn every_program_draws_the_page_of_the_built_in_server() {
    let demo = ["--json", "--demo-images", "1ms,2ms,3ms,1ms:320x200", "--demo-advertisement", "1ms"];
    for name in PAGE_PROGRAMS {
        let run = Run::of(name, &[&demo[..], patient(name)].concat());
        assert_eq!(run.status(), Some(0), "{name}: {}", run.stderr());
        let report = run.json();
        assert_eq!((&report["images"], &report["painted"]), (&5.into(), &5.into()), "{name}");
        assert_eq!(report["strategy"], name);
        let [text, first, page] =
            ["text_ms", "first_image_ms", "page_ms"].map(|time| report[time].as_f64().expect("a time"));
        assert!(text <= page && first <= page, "{name}: {report}");
        assert_eq!(report["failed"], Value::Array(vec![]));
        assert_eq!(run.picture().expect("page.png").width(), 800);
    }
}

/// For the text and each image, the JSON says when and where the reader saw it.
#[test]
fn what_the_reader_has_seen_is_in_the_json_with_its_time_and_place() {
    for name in PAGE_PROGRAMS {
        let demo =
            ["--json", "--width", "400", "--demo-images", "1ms,1ms:404", "--demo-advertisement", "1ms"];
        let report = Run::of(name, &[&demo[..], patient(name)].concat()).json();
        let seen = report["seen"].as_array().expect("a list");
        let mut whats: Vec<_> = seen.iter().map(|seen| seen["what"].as_str().expect("a word")).collect();
        whats.sort_unstable();
        assert_eq!(whats, ["gap", "image", "image", "text"], "{name}: {report}");
        let times: Vec<_> = seen.iter().map(|seen| seen["ms"].as_f64().expect("a time")).collect();
        assert!(times.is_sorted() && times[3] <= report["page_ms"].as_f64().unwrap(), "{name}: {report}");
        let [width, height] = [0, 1].map(|side| report["size"][side].as_u64().expect("a length"));
        assert_eq!(width, 400);
        for seen in seen.iter().filter(|seen| seen["what"] != "text") {
            let [x, y, w, h] = [0, 1, 2, 3].map(|side| seen["area"][side].as_u64().expect("a length"));
            assert!(w == 236 && x + w <= width && y + h <= height, "{name}: {report}");
        }
    }
}

/// The same seed gives the same page with the same gaps.
#[test]
fn a_seed_makes_a_run_repeatable() {
    let of = |seed| {
        let run = Run::of("completion_service", &["--json", "--threads", "9", "--demo-seed", seed]);
        let report = run.json();
        let failed: Vec<_> =
            report["failed"].as_array().expect("a list").iter().map(|gap| gap["place"].to_string()).collect();
        (failed.len(), run.picture().map(image::RgbImage::into_raw))
    };
    let (seven, again, other) = (of("7"), of("7"), of("8"));
    assert!(seven == again, "seed 7 gave {} gaps, and then {}", seven.0, again.0);
    assert!(seven != other);
}

/// Whatever is wrong with an image, the page has a gap with the reason, all other parts are drawn, and the
/// status is 3.
#[test]
fn a_bad_image_is_a_gap_with_its_reason() {
    let faults = [
        ("404", "answered 404"),
        ("500", "answered 500"),
        ("broken", "no image that can be decoded"),
        ("html", "format is unknown"),
        ("bomb", "3600000000 pixels"),
        ("loop", "more than 5 redirects"),
        ("endless", "larger than 100000 bytes"),
        ("reset", "reset"),
    ];
    let late = [("half", "not there after 100ms"), ("stall", "not there after 100ms")];
    for name in PAGE_PROGRAMS {
        // The test sets a time limit only for late images, because on a slow machine any other image could
        // also reach the limit.
        for (faults, timeout, painted) in [(&faults[..], "10m", 2), (&late, "100ms", 0)] {
            let images: Vec<_> = faults.iter().map(|(fault, _)| format!("1ms:64x40:{fault}")).collect();
            let images = format!("{},1ms:64x40", images.join(","));
            let limits = ["--timeout", timeout, "--max-bytes", "100000", "--demo-advertisement", "1ms:64x40"];
            let demo = ["--json", "--demo-images", &images];
            let run = Run::of(name, &[&demo, &limits[..], patient(name)].concat());
            assert_eq!(run.status(), Some(3), "{name}: {}", run.stderr());
            let report = run.json();
            assert!(report["painted"].as_u64() >= Some(painted), "{name}: {report}");
            for (place, (fault, words)) in (2..).zip(faults) {
                let mut gaps = report["failed"].as_array().expect("a list").iter();
                let gap = gaps.find(|gap| gap["place"] == place);
                let gap = gap.unwrap_or_else(|| panic!("{name}: {fault} is no gap"));
                assert!(gap["reason"].as_str().expect("words").contains(words), "{name}, {fault}: {gap}");
            }
            assert!(run.picture().is_some(), "{name}");
        }
    }
}

#[test]
fn what_cannot_be_drawn_says_so_in_a_sentence() {
    let server = Gated::start();
    server.route("/image", Answer::image());
    server.route("/endless", Answer::endless());
    server.page("/page", "<p>words");
    let (image, gone, endless) = (server.url("/image"), server.url("/gone"), server.url("/endless"));
    let page = server.url("/page");
    for (arguments, words) in [
        (vec!["nowhere.html"], "nowhere.html cannot be read"),
        (vec!["gopher://example.org/"], "gopher addresses are not fetched"),
        (vec!["."], "no regular file"),
        (vec![&*image], "is \"image/png\" and no page"),
        (vec![&*gone], "answered 404"),
        (vec![&*endless, "--max-bytes", "1000"], "larger than 1000 bytes"),
        (vec![&*page, "--font", "nofont.ttf"], "nofont.ttf cannot be read"),
        (vec![&*page, "--font", env!("CARGO_MANIFEST_PATH")], "is no font"),
        #[cfg(target_os = "linux")]
        (vec![&*page, "--out", "/dev/full"], "/dev/full cannot be written"),
    ] {
        let run = Run::of("completion_service", &arguments);
        assert_eq!(run.status(), Some(1), "{arguments:?}: {}", run.stderr());
        assert!(
            run.stderr().contains(words) && run.stderr().lines().count() == 1,
            "{arguments:?}: {}",
            run.stderr()
        );
    }
    for arguments in [
        &["--demo-images", "soon"][..],
        &["--demo-images", "5ms:sad"],
        &["--threads", "0"],
        &["--width", "1"],
        &["--scale", "NaN"],
        &["--timeout", "0s"],
        &["page.html", "--demo-seed", "7"],
    ] {
        assert_eq!(Run::of("sequential", arguments).status(), Some(2), "{arguments:?}");
    }
}

/// The page's time limit ends every wait, whatever the server does, and the program writes the unfinished
/// picture.
#[test]
fn the_time_of_the_page_ends_every_wait() {
    for name in PAGE_PROGRAMS {
        let demo = ["--json", "--demo-images", "1ms:64x40,1ms:stall", "--page-timeout"];
        let without_a_page = |run: &Run| run.status() == Some(1) && run.stderr().contains("not there after");
        let (run, limit) =
            with_a_limit(|limit| Run::of(name, &[&demo[..], &[limit]].concat()), without_a_page);
        assert_eq!(run.status(), Some(3), "{name}: {}", run.stderr());
        let report = run.json();
        let gaps = report["failed"].as_array().expect("a list");
        let is_late = |gap: &Value| gap["reason"] == format!("not there after {limit}");
        assert!(!gaps.is_empty() && gaps.iter().all(is_late), "{name}: {report}");
        assert!(run.picture().is_some(), "{name}");
    }
}

#[test]
fn a_page_that_does_not_come_names_its_address_and_the_time() {
    let server = Gated::start();
    let _held = server.hold("/", Answer::html("<p>late"));
    let run = Run::of("sequential", &[&server.url("/"), "--page-timeout", "50ms"]);
    assert_eq!(run.status(), Some(1));
    assert!(run.stderr().contains("/ cannot be drawn: not there after 50ms"), "{}", run.stderr());
}

/// If the first signal arrives while images are loading, the program ends gracefully and writes the
/// unfinished picture.
#[cfg(unix)]
#[test]
fn a_signal_writes_what_has_been_drawn() {
    for name in PAGE_PROGRAMS {
        for signal in ["-INT", "-TERM"] {
            let server = Gated::start();
            let page = server.page("/", "<p>above<img src=a.png><img class=ad src=ad.png><p>below");
            let held = server.hold("/a.png", Answer::image());
            let folder = tempfile::tempdir().expect("a directory");
            let child = program(name)
                .args([&page, "--json"])
                .current_dir(folder.path())
                .spawn()
                .expect("it was built");
            held.requested();
            signal_to(&child, signal);
            let output = ended(child);
            assert_eq!(
                output.status.code(),
                Some(130),
                "{name}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
            assert_eq!(report["interrupted"], true, "{name}");
            assert!(Path::exists(&folder.path().join("page.png")), "{name}");
            held.closed_by_client();
        }
    }
}

/// The program writes the picture to a pipe without a reader, so the program does not end by itself.
#[cfg(unix)]
#[test]
fn a_second_signal_ends_the_program_at_once() {
    let server = Gated::start();
    let page = server.page("/", "<img src=a.png>");
    let held = server.hold("/a.png", Answer::image());
    let folder = tempfile::tempdir().expect("a directory");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it is everywhere").success());
    let child =
        program("completion_service").arg(&page).arg("--out").arg(&pipe).spawn().expect("it was built");
    held.requested();
    signal_to(&child, "-INT");
    held.closed_by_client();
    signal_to(&child, "-INT");
    assert_eq!(ended(child).status.code(), Some(130));
}

/// If there is no page, the program writes no picture and removes the picture of an earlier run.
#[cfg(unix)]
#[test]
fn a_signal_before_there_is_a_page_leaves_no_picture() {
    let server = Gated::start();
    let held = server.hold("/", Answer::html("<p>late"));
    let folder = tempfile::tempdir().expect("a directory");
    let child =
        program("future").arg(server.url("/")).current_dir(folder.path()).spawn().expect("it was built");
    held.requested();
    signal_to(&child, "-INT");
    assert_eq!(ended(child).status.code(), Some(130));
    assert!(!folder.path().join("page.png").exists());
}

#[cfg(unix)]
fn signal_to(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("a shell's kill");
    assert!(sent.success());
}

#[test]
fn files_are_drawn_with_the_images_beside_them() {
    let folder = tempfile::tempdir().expect("a directory");
    fs::write(folder.path().join("a b.png"), crate::gated::png(8, 8)).unwrap();
    fs::write(folder.path().join("page.html"), "<p>words<img src='a b.png'><img src=none.png>").unwrap();
    let page = folder.path().join("page.html").display().to_string();
    let run = Run::of("completion_service", &["--json", &page]);
    assert_eq!(run.status(), Some(3), "{}", run.stderr());
    let report = run.json();
    assert_eq!(report["painted"], 1);
    assert_eq!(report["failed"][0]["reason"], "there is no such file");
}

#[test]
fn a_font_of_ones_own_is_asked_first() {
    let server = Gated::start();
    let page = server.page("/", "<p>words, слова");
    let folder = tempfile::tempdir().expect("a directory");
    let font = folder.path().join("serif.ttf");
    fs::write(&font, dejavu::serif::regular()).unwrap();
    let [own, other] = [&["--font", &font.display().to_string()][..], &[]]
        .map(|font| Run::of("sequential", &[&[&*page], font].concat()).picture().expect("a picture"));
    assert!(own != other);
}

#[test]
fn more_images_than_allowed_are_gaps() {
    for arguments in
        [&["completion_service"][..], &["sequential"], &["sequential", "--in-order"], &["future"]]
    {
        let server = Gated::start();
        server.route("/x.png", Answer::image());
        let page = server.page("/", &"<img src=x.png width=8 height=8>".repeat(300));
        let run =
            Run::of(arguments[0], &[&["--json", "--max-images", "20", &page], &arguments[1..]].concat());
        assert_eq!(run.status(), Some(3), "{arguments:?}");
        let report = run.json();
        assert_eq!((&report["painted"], server.requests("/x.png")), (&20.into(), 1), "{arguments:?}");
        assert_eq!(report["failed"].as_array().map(Vec::len), Some(280), "{arguments:?}");
    }
}

/// The program does not fetch images below the end of the picture.
#[test]
fn a_page_that_is_too_long_is_cut_off() {
    let server = Gated::start();
    let addresses: Vec<_> = (0..100).map(|number| format!("/{number}.png")).collect();
    for address in &addresses {
        server.route(address, Answer::image());
    }
    let images = addresses.iter().map(|address| format!("<p>words<img src={address}>"));
    let page = server.page("/", &images.collect::<String>());
    let run = Run::of("completion_service", &["--json", "--max-pixels", "800000", &page]);
    assert_eq!(run.status(), Some(3), "{}", run.stderr());
    let report = run.json();
    let painted = report["painted"].as_u64().expect("a count");
    let fetched = addresses.iter().filter(|address| server.requests(address) > 0).count();
    assert!(painted >= 2 && usize::try_from(painted) == Ok(fetched), "{report}");
    assert!(report["left_out"].as_u64().is_some_and(|left_out| left_out > 100));
    assert!(run.picture().is_some_and(|picture| picture.height() <= 1000));
}

#[test]
fn the_pages_that_starve_say_so_and_are_drawn_all_the_same() {
    let run = Run::of("starving", &["--json", "--demo-images", "1ms:64x40,1ms:64x40,1ms:64x40"]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let said = run.stderr();
    assert!(
        said.contains("starvation deadlock") && said.contains("header") && said.contains("pages-thread-1"),
        "{said}"
    );
    assert_eq!(run.json()["painted"], 4);
}

#[test]
fn one_entry_for_each_company_in_the_order_of_their_prices() {
    let server = Gated::start();
    let offer =
        |price: &str| Answer::bytes("application/json", format!(r#"{{"price": {price}}}"#).as_bytes());
    let _late = server.hold("/late", offer("39"));
    server.route("/dear", offer("189"));
    server.route("/cheap", offer("74.5"));
    server.route("/fault", Answer::status(500));
    let companies = ["late", "dear", "fault", "cheap"].map(|name| format!("{name}\t/{name}\n")).concat();
    server.route("/list", Answer::bytes("text/plain", companies.as_bytes()));
    let list = server.url("/list");
    let ask = |limit: &str| Run::of("travel_portal", &["--json", &list, "--deadline", limit]);
    let (run, _) = with_a_limit(ask, |run| run.json()["quotes"][2]["timed_out"] == true);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let quotes = &run.json()["quotes"];
    assert_eq!((&quotes[0]["company"], &quotes[0]["price"]), (&"cheap".into(), &74.5.into()), "{quotes}");
    assert_eq!((&quotes[1]["company"], &quotes[1]["price"]), (&"dear".into(), &189.0.into()), "{quotes}");
    assert!(quotes[2]["failed"].as_str().is_some_and(|why| why.contains("500")), "{quotes}");
    assert_eq!((&quotes[3]["company"], &quotes[3]["timed_out"]), (&"late".into(), &true.into()), "{quotes}");
}

#[test]
fn the_nested_loop_adds_every_quote_many_times() {
    let run = Run::of("travel_portal", &["--json", "--listing", "--deadline", "10ms"]);
    assert_eq!(run.json()["quotes"].as_array().map(Vec::len), Some(100));
}

#[test]
fn a_list_of_companies_that_makes_no_sense_says_which_line() {
    let folder = tempfile::tempdir().expect("a directory");
    let list = folder.path().join("list.txt");
    for (content, words) in
        [("Air\thttp://127.0.0.1:1/\nno tab here\n", "line 2"), ("Air\thttp://[::", "line 1")]
    {
        fs::write(&list, content).unwrap();
        let run = Run::of("travel_portal", &[&list.display().to_string()]);
        assert_eq!(run.status(), Some(1));
        assert!(run.stderr().contains(words), "{}", run.stderr());
    }
    fs::write(&list, "# none\n\n").unwrap();
    assert_eq!(Run::of("travel_portal", &[&list.display().to_string()]).status(), Some(0));
}

#[test]
fn the_timeline_and_the_frames_show_what_happened() {
    let arguments =
        ["--demo-images", "40ms:64x40,1ms:64x40", "--timeline", "t.svg", "--frames", "f", "--scale", "0.5"];
    let run = Run::of("completion_service", &arguments);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let svg = fs::read_to_string(run.folder.path().join("t.svg")).expect("the timeline");
    for word in ["main", "images-thread-1", "harbour.png", "fetching", "whole page", "painting text"] {
        assert!(svg.contains(word), "the timeline does not say {word:?}");
    }
    // The frames show the empty page, then the text, and then one image after the other.
    let frames = fs::read_dir(run.folder.path().join("f")).expect("the frames").count();
    assert_eq!(frames, 1 + 1 + 3 + 1);
    let animation = fs::File::open(run.folder.path().join("f/animation.png")).expect("the animated picture");
    let reader = png::Decoder::new(std::io::BufReader::new(animation)).read_info().expect("a PNG");
    assert_eq!(reader.info().animation_control().map(|control| control.num_frames), Some(5));
    let last = image::open(run.folder.path().join("f/frame-0005.png")).expect("the last frame").into_rgb8();
    assert!(Some(last) == run.picture(), "the last frame is the picture");
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    let server = Gated::start();
    let page = server.page("/", "<p>words");
    let folder = tempfile::tempdir().expect("a directory");
    let mut child = program("future").arg(&page).current_dir(folder.path()).spawn().expect("it was built");
    drop(child.stdout.take());
    assert_eq!(ended(child).status.code(), Some(0));
}
