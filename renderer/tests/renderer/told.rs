//! Tests the messages about a page that the program does not draw as the user expects: they say what is
//! missing, and what is not supported.

use crate::gated::{Answer, Gated};
use crate::programs::Run;
use std::fs;

/// A character that is in no font becomes a box, and a page of boxes does not count as a success. Characters
/// that need no glyph are not counted.
#[test]
fn characters_without_a_glyph_are_counted_and_the_flag_is_named() {
    let server = Gated::start();
    for (html, count, examples) in [
        ("<p>abc 中文中 <pre>a\u{1f980}\tb\n\ncรถ</pre>", 6, "中文\u{1f980}รถ"),
        (
            "<p>Ěπщאعﻻ 1\u{ad}2\u{200b}3\u{200c}4\u{200d}5\u{2060}6 e\u{301}<br>x\u{a0}y\u{2028}z<p>\u{202e}x<ul><li>y</ul>",
            0,
            "",
        ),
    ] {
        let page = server.page("/", html);
        let run = Run::of("completion_service", &["--json", &page]);
        let status = if count > 0 { 3 } else { 0 };
        assert_eq!((run.status(), run.stderr()), (Some(status), String::new()), "{html}");
        assert_eq!(
            (&run.json()["no_glyph"]["count"], &run.json()["no_glyph"]["examples"]),
            (&count.into(), &examples.into())
        );
        let said = String::from_utf8(Run::of("future", &[&page]).output.stdout).expect("text");
        assert_eq!(said.contains(&format!("{count} characters, as {examples}; --font")), count > 0, "{said}");
    }
}

/// A page with one image is enough for starvation, because the task of the page waits for the task of
/// its header. If the page has no image, its task waits for nothing, and the program says so.
#[test]
fn a_page_with_one_image_starves_and_one_without_says_that_it_cannot() {
    let server = Gated::start();
    server.route("/a.png", Answer::image());
    for (html, images, words) in
        [("<p>words<img src=a.png>", 1, "waits for task header"), ("<p>words", 0, "does not starve")]
    {
        let run = Run::of("starving", &["--json", &server.page("/", html)]);
        assert_eq!(run.status(), Some(0), "{html}: {}", run.stderr());
        assert_eq!(run.json()["painted"], images, "{html}");
        assert!(run.stderr().contains(words), "{html}: {}", run.stderr());
    }
}

#[test]
fn a_page_that_has_nothing_to_show_says_so() {
    let server = Gated::start();
    let words = server.page("/words", "<p>words");
    let run = Run::of("time_budget", &[&words]);
    assert_eq!((run.status(), run.stderr().contains("no image of the class advertisement")), (Some(0), true));
    assert!(!String::from_utf8_lossy(&run.output.stdout).contains("empty"));
    let app = server.page("/app", "<title>x</title><div id=root></div><script>draw()</script>");
    let run = Run::of("future", &[&app]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    assert!(String::from_utf8_lossy(&run.output.stdout).contains("neither words nor images"));
}

/// If the program cannot write the picture, it does not even request the page.
#[test]
fn what_has_no_place_to_go_to_is_refused_before_anything_is_loaded() {
    let server = Gated::start();
    let page = server.page("/page", "<p>words");
    for (flag, place, words) in [
        ("--out", "no/such/directory/page.png", "page.png cannot be written: there is no directory"),
        ("--out", ".", ". cannot be written: it is a directory"),
        ("--timeline", "no/such/directory/x.svg", "x.svg cannot be written: there is no directory"),
        #[cfg(unix)]
        ("--frames", "/dev/null", "/dev/null for the frames cannot be used"),
    ] {
        let run = Run::of("future", &[&page, flag, place]);
        assert_eq!(run.status(), Some(1), "{place}: {}", run.stderr());
        assert!(run.stderr().contains(words) && run.stderr().lines().count() == 1, "{}", run.stderr());
    }
    assert_eq!(server.requests("/page"), 0);
}

/// While the page waits for its image, the directory is removed, or the disk becomes full. The program
/// writes the other outputs, and the status says that something is missing.
#[cfg(target_os = "linux")]
#[test]
fn a_frame_that_cannot_be_written_decides_the_status() {
    use crate::programs;

    for (disk_is_full, words) in [(false, "cannot be written"), (true, "frame-0003.png cannot be written")] {
        let server = Gated::start();
        let page = server.page("/", "<p>words<img src=a.png>");
        let held = server.hold("/a.png", Answer::image());
        let folder = tempfile::tempdir().expect("a directory");
        let child = programs::program("completion_service")
            .args([&page, "--frames", "f"])
            .current_dir(folder.path())
            .spawn()
            .expect("it was built");
        held.requested();
        let frames = folder.path().join("f");
        if disk_is_full {
            std::os::unix::fs::symlink("/dev/full", frames.join("frame-0003.png"))
                .expect("it is not there yet");
        } else {
            fs::rename(frames, folder.path().join("gone")).expect("it is ours");
        }
        held.release();
        let output = programs::ended(child);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(words) && said.lines().count() == 1, "{said}");
        assert!(folder.path().join("page.png").exists() && !output.stdout.is_empty());
    }
}

/// Text, place-holders, gaps and rules are painted in a different order. Each frame stores only the pixels
/// that differ from the previous frame; the picture after the last frame is complete.
#[test]
fn the_last_frame_is_the_picture_in_whatever_order_it_was_painted() {
    let server = Gated::start();
    server.route("/x.png", Answer::image());
    let page =
        server.page("/", "<p>above<img src=x.png><hr><blockquote>b</blockquote><img src=gone><ul><li>c</ul>");
    let run = Run::of("sequential", &["--in-order", "--frames", "f", &page]);
    assert_eq!(run.status(), Some(3), "{}", run.stderr());
    let frames = fs::read_dir(run.folder.path().join("f")).expect("the frames").count() - 1;
    let last =
        image::open(run.folder.path().join(format!("f/frame-{frames:04}.png"))).expect("the last frame");
    assert!(Some(last.into_rgb8()) == run.picture());
}
