//! Tests what the pictures show, and whether all texts fit.

use super::*;
use crate::schedule::{Line, Thread};
use crate::{Failure, Mode, Terminal};

fn thread(name: &str, end: &str) -> Thread {
    Thread { name: name.into(), end: end.into() }
}

fn event(thread: usize, action: Action, line: impl Into<Option<u32>>) -> Event {
    Event { thread, action, line: line.into() }
}

fn lock(thread: usize) -> Event {
    event(thread, Action::Lock(0), 10)
}

fn unlock(thread: usize) -> Event {
    event(thread, Action::Unlock(0), None)
}

/// A schedule with a stolen wake-up: thread 1 is notified, thread 2 is faster, and thread 1 finds nothing.
fn thief() -> Failure {
    let woken = vec![1];
    let schedule = Schedule {
        threads: vec![
            thread("test", "waits at line 56 for thread 2 to end"),
            thread("thread 1", "has ended"),
            thread("a <thief>", "waits for a job"),
        ],
        events: vec![
            event(0, Action::Spawn(1), 3),
            event(0, Action::Spawn(2), 3),
            lock(1),
            event(1, Action::Wait { condvar: 0, lock: 0 }, 12),
            event(0, Action::Step("executes a job".into()), None),
            lock(0),
            event(2, Action::Want(0), 10),
            unlock(0),
            event(0, Action::Notify { condvar: 0, all: false, woken }, 20),
            lock(2),
            event(1, Action::Want(0), 12),
            unlock(2),
            event(2, Action::Expect("a job".into()), None),
            event(1, Action::Wake { condvar: 0, lock: 0, spurious: false }, 12),
            unlock(1),
            event(1, Action::End { panicked: false }, None),
            event(0, Action::Await(2), 56),
        ],
        decisive: Some(13),
        code: vec![
            Line { number: 10, text: "let mut state = shared.state.lock().unwrap();".into() },
            Line { number: 12, text: "state = shared.changed.wait(state).unwrap();".into() },
        ],
    };
    Failure::new("A promise & more.", "it hangs", "no \"cause\"", schedule)
}

fn terminal(width: usize) -> Terminal {
    Terminal { width, ..Terminal::default() }
}

fn shown(failure: &Failure, width: usize) -> String {
    failure.message("it_holds", Mode::Model, &terminal(width))
}

/// A schedule with more threads and steps than can be drawn.
fn crowd(threads: usize) -> Failure {
    let name = |n| thread(&format!("the-worker-with-a-very-long-name-{n}"), "waits on a Condvar at line 12");
    let mut failure = thief();
    failure.schedule.threads.extend((3..threads).map(name));
    for n in 3..threads {
        failure.schedule.events.push(event(0, Action::Spawn(n), 3));
        failure.schedule.events.push(lock(n));
        failure.schedule.events.push(event(n, Action::Step("word ".repeat(40)), 12));
        failure.schedule.events.push(event(n, Action::Wait { condvar: 0, lock: 0 }, 12));
    }
    failure.schedule.decisive = None;
    failure.schedule.code[1].text = "let state = self.and_so_on(); ".repeat(5);
    failure.schedule.shorten(1_000);
    failure
}

#[test]
fn lanes_show_what_threads_are_doing_and_arrows_who_goes_on() {
    let text = shown(&thief(), 120);
    let drawing: Vec<&str> = text.lines().skip_while(|line| *line != "    test").collect();
    let expected = [
        "    test",
        "    │  thread 1",
        "    │  │  a <thief>",
        "    ●─→·     test       starts thread 1 :3",
        "    ●──┼─→·             starts a <thief> :3",
        "    │  ●  ·  thread 1   locks :10                 10  let mut state = shared.state.lock().unwrap();",
        "    │  ●  ·             waits :12                 12  state = shared.changed.wait(state).unwrap();",
        "    ●  z  ·  test       executes a job",
        "    ●  z  ·             locks :10                 10  let mut state = shared.state.lock().unwrap();",
        "    █  z  ●  a <thief>  wants the lock :10        10  let mut state = shared.state.lock().unwrap();",
        "    ●─→┼─→░  test       unlocks, notify_one :20",
        "    │  ░  ●  a <thief>  locks :10                 10  let mut state = shared.state.lock().unwrap();",
        "    │  ●  █  thread 1   wants the lock :12        12  state = shared.changed.wait(state).unwrap();",
        "    │  ░←─●  a <thief>  unlocks",
        "►   │  ●  ┊  thread 1   wakes up :12              12  state = shared.changed.wait(state).unwrap();",
        "    ┊  ●  ┊             unlocks, ends",
        "    ┊     ┊",
        "",
        "    In the end:  test waits at line 56 for thread 2 to end",
    ];
    for (line, expected) in drawing.iter().zip(&expected) {
        assert_eq!(line.trim_end(), *expected, "{text}");
    }
    assert!(text.contains("z sleeps on a Condvar"), "{text}");
}

#[test]
fn without_a_decisive_step_nothing_is_marked_and_nothing_is_said_of_one() {
    let mut failure = thief();
    failure.schedule.decisive = None;
    failure.schedule.events.push(event(0, Action::Step("is the last step".into()), None));
    let text = shown(&failure, 100);
    assert!(!text.contains('►') && !text.contains("decided"), "{text}");
    let svg = svg(&failure, "thief");
    assert!(!svg.contains("class=\"mark\"") && !svg.contains("decided"), "{svg}");
}

#[test]
fn it_fits_a_terminal_of_any_width() {
    for failure in [thief(), crowd(9), crowd(40)] {
        for width in [60, 80, 100, 120, 200] {
            let text = shown(&failure, width);
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}\n{text}");
            }
            let ascii = Terminal { ascii: true, ..terminal(width) };
            let text = failure.message("it_holds", Mode::Model, &ascii);
            let text = ascii.show(&text);
            assert!(text.is_ascii());
            assert!(text.lines().all(|line| line.len() <= width), "{width}: {text}");
        }
    }
}

#[test]
fn the_learners_lines_stand_beside_the_steps_or_below() {
    assert!(!shown(&thief(), 120).contains("Lines of src/exercise.rs"));
    for width in [60, 80] {
        let text = shown(&thief(), width);
        let (_, below) = text.split_once("Lines of src/exercise.rs:").unwrap_or_else(|| panic!("{text}"));
        assert!(below.contains("     12  state = shared.changed.wait(state).unwrap();"), "{text}");
    }
}

#[test]
fn what_is_too_much_to_look_at_is_left_out_and_counted() {
    let failure = crowd(5_000);
    let (text, svg) = (shown(&failure, 100), svg(&failure, "crowd"));
    assert!(text.lines().count() < 110 && text.len() < 12_000, "{text}");
    assert!(svg.len() < 60_000, "{}", svg.len());
    for drawn in [&text, &svg] {
        assert!(drawn.contains("earlier steps") && drawn.contains("other threads"), "{drawn}");
    }
}

#[test]
fn a_thread_that_was_started_and_did_nothing_has_a_lane() {
    let mut failure = thief();
    failure.schedule.threads.push(thread("idle", "is running"));
    failure.schedule.events.push(event(0, Action::Spawn(3), 3));
    failure.schedule.threads.push(thread("never started", ""));
    let text = shown(&failure, 100);
    assert!(text.contains("│  │  │  idle\n") && text.contains("→·  test       starts idle"), "{text}");
    assert!(!text.contains("never started"), "{text}");
}

#[test]
fn what_a_thread_does_again_and_again_is_one_step() {
    let mut failure = thief();
    for _ in 0..50 {
        failure.schedule.events.extend([lock(2), unlock(2)]);
    }
    failure.schedule.decisive = None;
    let text = shown(&failure, 100);
    assert!(text.contains("unlocks, locks :10, unlocks, locks :10 (×24)"), "{text}");
    assert!(!text.contains("earlier steps"), "{text}");
}

#[test]
fn a_lock_that_a_thread_wants_twice_is_drawn() {
    let mut failure = thief();
    failure.schedule.events.extend([lock(0), event(0, Action::Want(0), 99)]);
    let text = shown(&failure, 100);
    assert!(text.contains("wants the lock :99") && text.contains("waits, and holds a lock"), "{text}");
}

#[test]
fn a_long_schedule_keeps_its_decisive_step() {
    let mut failure = crowd(500);
    failure.schedule.decisive = Some(100);
    let text = shown(&failure, 100);
    assert!(text.lines().any(|line| line.starts_with('►')) && text.contains("later steps"), "{text}");
}

#[test]
fn the_svg_is_closed_escaped_and_says_all_there_is_to_say() {
    let svg = svg(&thief(), "lost & found");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(!svg.contains("\n\n"), "an empty line would end it in Markdown");
    assert!(svg.contains("<title>lost &amp; found</title>") && svg.contains("a &lt;thief&gt;"));
    assert!(svg.contains(
        "<desc>Promise: A promise &amp; more.\nSeen: it hangs\nCause: no &quot;cause&quot;</desc>"
    ));
    for words in ["promise", "seen", "cause", "in the end", "a &lt;thief&gt; waits for a job"] {
        assert!(svg.contains(&format!(">{words}<")), "{words}: {svg}");
    }
    for class in ["holds", "wants", "sleeps", "waits", "runs", "started", "arrow", "mark"] {
        assert!(svg.contains(&format!("class=\"{class}\"")), "{class}: {svg}");
    }
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
}

#[test]
fn the_svg_takes_the_colours_of_the_readers_theme_and_is_light_in_print() {
    let svg = svg(&thief(), "thief");
    let (style, _) = svg.split_once("</style>").unwrap();
    for words in
        ["var(--fg,", "var(--bg,", "prefers-color-scheme: dark", ".coal, .navy, .ayu", "@media print"]
    {
        assert!(style.contains(words), "{words}: {style}");
    }
    let rules = style.lines().filter(|line| line.contains('{') && !line.starts_with('@'));
    assert!(rules.clone().count() > 10);
    for rule in rules {
        assert!(rule.contains(".schedule"), "it would change the page around it: {rule}");
    }
}

/// The position of a text: left edge, right edge, and line.
fn boxes(svg: &str) -> Vec<(usize, usize, usize, String)> {
    let number = |text: &str, name: &str| {
        let (_, rest) = text.split_once(&format!(" {name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse::<usize>().unwrap()
    };
    let texts = svg.split("<text").skip(1).map(|text| {
        let (head, rest) = text.split_once('>').unwrap();
        let words = rest.split("</text>").next().unwrap();
        let words =
            words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("&quot;", "\"");
        let x = number(head, "x");
        (x, x + words.chars().count() * 8, number(head, "y"), words)
    });
    texts.collect()
}

#[test]
fn no_text_of_the_svg_runs_into_another_or_out_of_the_picture() {
    for failure in [thief(), crowd(9), crowd(40)] {
        let svg = svg(&failure, &"a long title ".repeat(20));
        let (_, rest) = svg.split_once("viewBox=\"0 0 ").unwrap();
        let mut size = rest.split(['"', ' ']).map(|number| number.parse::<usize>().unwrap());
        let (width, height) = (size.next().unwrap(), size.next().unwrap());
        let boxes = boxes(&svg);
        assert!(boxes.len() > 20);
        for (n, (left, right, y, words)) in boxes.iter().enumerate() {
            assert!(*right <= width && *y < height, "{words:?} ends at {right}, {y} in {width} x {height}");
            for (other_left, other_right, other_y, other) in &boxes[n + 1..] {
                let apart = right <= other_left || other_right <= left || y.abs_diff(*other_y) >= 14;
                assert!(apart, "{words:?} and {other:?} at {y}");
            }
        }
    }
}
