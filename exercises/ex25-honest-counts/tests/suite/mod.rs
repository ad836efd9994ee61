//! The properties of the log queue; each property is a function. `exercise.toml` lists the properties and
//! says what each one promises.

use exercises_harness::{aside, expect, fail, step};

use super::exercise::{Counts, LogQueue, NotLogged, Overflow, Record};
use crate::probe::{others_come_to_rest, until_others_wait};
use crate::sync::{Arc, thread};

use Overflow::{Block, DropNewest, DropOldest};
use calls::{
    NO_END, NOT_WOKEN, TwoBlocked, accepts, books, counts, drops, ends_with, is_refused, join, refuses,
    start, stop, writer, writer_held_at, writes, written_at_the_end,
};

mod calls;

fn queue(room: usize) -> Arc<LogQueue> {
    Arc::new(LogQueue::new(room))
}

const ORDER: &str = "lines come out in the order in which they were accepted, each once: push at one end, take from the other";

pub fn lines_come_out_in_their_order() {
    let queue = queue(3);
    let writer = writer(&queue);
    accepts(&queue, &["a", "b", "c"], Block);
    writes(&writer.0, "a b c", ORDER);
    aside(|| {
        stop(&queue);
        ends_with(writer, "a b c", ORDER);
        books(&queue, [3, 3, 0, 0, 0], BOOKS);
    });
}

pub fn block_waits_while_there_is_no_room() {
    let queue = queue(1);
    accepts(&queue, &["a"], Block);
    let blocked = TwoBlocked::start(&queue, ["b", "c"]);
    let (paper, running) = writer_held_at(&queue, "a");
    expect("put(), for which there is room now,", NOT_WOKEN, || blocked.back.wait_for(1));
    if others_come_to_rest() && blocked.back.get() > 1 {
        fail(
            "one line was taken out of a queue with room for one, and two waiting lines came in",
            "both threads were woken, and the second one did not look again: a wake-up is only a hint, so look in a `while`, not in an \
             `if`. Or the lock was released between the look and the push",
        );
    }
    paper.open_the_gate();
    expect("put(), for which there is room now,", NOT_WOKEN, || blocked.back.wait_for(2));
    if blocked.join(NOT_WOKEN) != [Ok(()), Ok(())] {
        fail(
            "two lines waited for room and were accepted, and put() did not return Ok",
            "put() returns Ok for a line that is accepted",
        );
    }
    expect("waiting for the writer to hand out three lines", NOT_WOKEN, || paper.lines.wait_for(3));
    aside(|| {
        stop(&queue);
        join("run(), whose queue is stopped,", NO_END, running);
    });
    let shown = paper.shown();
    if shown != "a b c" && shown != "a c b" {
        fail(&format!("a, b and c were put and the log is \"{shown}\""), ORDER);
    }
}

pub fn nobody_sleeps_beside_room() {
    let queue = queue(2);
    accepts(&queue, &["a", "b"], Block);
    let blocked = TwoBlocked::start(&queue, ["c", "d"]);
    let (paper, running) = writer_held_at(&queue, "b");
    let cause = "two lines were taken while two threads waited for room, and one of the threads was not woken. A writer that takes all \
                 lines at once makes room for many threads: notify_all()";
    expect("put(), for which there is room now,", cause, || blocked.back.wait_for(2));
    aside(|| {
        paper.open_the_gate();
        stop(&queue);
        blocked.join(NOT_WOKEN).into_iter().for_each(drop);
        join("run(), whose queue is stopped,", NO_END, running);
    });
}

pub fn all_lines_come_through_the_narrowest_queue() {
    let queue = queue(1);
    accepts(&queue, &["a"], Block);
    let blocked = TwoBlocked::start(&queue, ["b", "c"]);
    let (paper, running) = writer(&queue);
    let cause = "the wrong thread was woken. If loggers and the writer wait on one Condvar, notify_one() may wake a logger when there is \
                 a line: the logger sleeps again, and the writer was not woken. Use one Condvar for the loggers and another for the \
                 writer, or wake all threads";
    expect("waiting for the writer to hand out three lines", cause, || paper.lines.wait_for(3));
    aside(|| {
        blocked.join(NOT_WOKEN).into_iter().for_each(drop);
        stop(&queue);
        join("run(), whose queue is stopped,", NO_END, running);
    });
}

pub fn the_writer_sleeps_until_there_is_a_line() {
    let queue = queue(1);
    let (paper, running) = writer(&queue);
    for (number, line) in (1..).zip(["a", "b"]) {
        until_others_wait(
            "run() never sleeps while there is no line",
            "the call looks again and again, and keeps a core busy with nothing to do: wait on a Condvar",
        );
        if running.is_finished() {
            fail(
                "run() returned although the queue was not stopped",
                "without a line, the writer waits for one",
            );
        }
        step("sees the writer wait");
        accepts(&queue, &[line], DropNewest);
        expect("waiting for the writer to hand out a line", NOT_WOKEN, || paper.lines.wait_for(number));
    }
    aside(|| {
        stop(&queue);
        ends_with((paper, running), "a b", ORDER);
    });
}

pub fn nobody_waits_for_the_disk() {
    let queue = queue(2);
    accepts(&queue, &["a", "b"], Block);
    let writer = writer_held_at(&queue, "b");
    accepts(&queue, &["c", "d"], Block);
    drops(&queue, &["e"], DropNewest);
    let cause = "a line is written when `out` has returned: count it then, and not when it was taken. Do not wait until all lines that \
                 were taken with it are handed out";
    books(&queue, [4, 1, 1, 0, 0], cause);
    writer.0.open_the_gate();
    expect("waiting for the writer to hand out four lines", NOT_WOKEN, || writer.0.lines.wait_for(4));
    accepts(&queue, &["f"], Block);
    writes(&writer.0, "a b c d <1> f", GAP);
    aside(|| {
        stop(&queue);
        ends_with(writer, "a b c d <1> f", GAP);
        books(&queue, [5, 5, 1, 0, 0], BOOKS);
    });
}

const GAP: &str = "a gap stands where its lines are missing: after the last line that was accepted before them, and before the next. Keep \
                   the number with the next line, or in a field for the end of the queue; and when the writer takes the lines, the number \
                   goes along, once";
const BOOKS: &str = "every line is counted once: as `accepted`, `dropped` or `refused` when put() decides. An accepted line is counted \
                     later as `written`, or, under the lock under which it is dropped, as `dropped` and `dropped_accepted`";

pub fn a_gap_stands_where_lines_are_missing() {
    let queue = queue(2);
    accepts(&queue, &["a", "b"], Block);
    drops(&queue, &["c", "d"], DropNewest);
    let writer = writer_held_at(&queue, "b");
    accepts(&queue, &["e", "f"], DropNewest);
    drops(&queue, &["g"], DropNewest);
    writer.0.open_the_gate();
    expect("waiting for the writer to hand out four lines", NOT_WOKEN, || writer.0.lines.wait_for(4));
    accepts(&queue, &["h"], Block);
    writes(&writer.0, "a b <2> e f <1> h", GAP);
    aside(|| {
        stop(&queue);
        ends_with(writer, "a b <2> e f <1> h", GAP);
        books(&queue, [5, 5, 3, 0, 0], BOOKS);
    });
}

pub fn the_last_gap_is_told() {
    let cause = "the queue is stopped, and the gap at its end was not handed out: no later line can carry this gap. Before run() ends it \
                 tells the last gap";
    for stops_first in [true, false] {
        let queue = queue(1);
        accepts(&queue, &["a"], Block);
        drops(&queue, &["b"], DropNewest);
        if stops_first {
            written_at_the_end(&queue, "a <1>", cause);
        } else {
            let writer = writer(&queue);
            expect("waiting for the writer to hand out a line", NOT_WOKEN, || writer.0.lines.wait_for(1));
            stop(&queue);
            ends_with(writer, "a <1>", cause);
        }
        books(&queue, [1, 1, 1, 0, 0], BOOKS);
    }
}

pub fn the_oldest_makes_room_and_no_more() {
    let queue = queue(3);
    accepts(&queue, &["a", "b", "c", "d"], DropOldest);
    let cause =
        "one line came and there was no room: drop one line, the oldest, which leaves a gap in its place";
    written_at_the_end(&queue, "<1> b c d", cause);
    books(&queue, [4, 3, 1, 1, 0], BOOKS);
}

pub fn only_what_may_be_dropped_is_dropped() {
    let queue = queue(3);
    accepts(&queue, &["a"], Block);
    accepts(&queue, &["b"], DropOldest);
    accepts(&queue, &["c"], DropNewest);
    accepts(&queue, &["d", "e"], DropOldest);
    let cause = "lines that were put with Block or DropNewest are never dropped once they are accepted. Here d takes the place of b, and \
                 e takes the place of d; each gap stands where its line stood";
    written_at_the_end(&queue, "a <1> c <1> e", cause);
    books(&queue, [5, 3, 2, 2, 0], BOOKS);
}

pub fn a_line_that_can_make_no_room_is_dropped() {
    let queue = queue(1);
    accepts(&queue, &["a"], Block);
    drops(&queue, &["b"], DropOldest);
    drops(&queue, &["c"], DropNewest);
    let writer = writer(&queue);
    expect("waiting for the writer to hand out a line", NOT_WOKEN, || writer.0.lines.wait_for(1));
    accepts(&queue, &["d"], DropOldest);
    writes(&writer.0, "a <2> d", GAP);
    aside(|| {
        stop(&queue);
        ends_with(writer, "a <2> d", GAP);
        books(&queue, [2, 2, 2, 0, 0], BOOKS);
    });
}

pub fn gaps_that_meet_are_added() {
    let cause = "a dropped line may have a gap before it, and so may its neighbours. Add its gap plus one to the gap of the next line in \
                 the queue, or to the gap at the end, so that nothing of it is lost or handed out twice";
    for (more, expected, counts) in
        [(&[][..], "<1> b <1> c", [3, 2, 2, 1, 0]), (&["d"], "<3> c d", [4, 2, 3, 2, 0])]
    {
        let queue = queue(2);
        accepts(&queue, &["a", "b"], DropOldest);
        drops(&queue, &["x"], DropNewest);
        accepts(&queue, &["c"], DropOldest);
        accepts(&queue, more, DropOldest);
        written_at_the_end(&queue, expected, cause);
        books(&queue, counts, BOOKS);
    }
}

pub fn what_is_being_written_is_not_dropped() {
    let queue = queue(1);
    accepts(&queue, &["a"], DropOldest);
    let writer = writer_held_at(&queue, "a");
    accepts(&queue, &["b", "c"], DropOldest);
    writer.0.open_the_gate();
    let cause = "the writer is writing line a: this line uses no room any more, and cannot be dropped. Take a line out of the queue \
                 before you hand it out, not after";
    writes(&writer.0, "a <1> c", cause);
    aside(|| {
        stop(&queue);
        ends_with(writer, "a <1> c", cause);
        books(&queue, [3, 2, 1, 1, 0], BOOKS);
    });
}

const LOST: &str = "after the stop no line is accepted. What was accepted before is written: run() ends when the queue is stopped and \
                    empty";

pub fn stop_writes_what_was_accepted() {
    let queue = queue(3);
    accepts(&queue, &["a", "b"], Block);
    let writer = writer_held_at(&queue, "a");
    accepts(&queue, &["c"], Block);
    stop(&queue);
    writer.0.open_the_gate();
    ends_with(writer, "a b c", LOST);
    books(&queue, [3, 3, 0, 0, 0], BOOKS);
}

pub fn stop_ends_a_writer_that_sleeps() {
    let queue = queue(1);
    let writer = writer(&queue);
    until_others_wait("run() never sleeps while there is no line", "wait on a Condvar");
    step("sees the writer wait");
    stop(&queue);
    ends_with(writer, "", ORDER);
}

pub fn stop_reaches_who_is_about_to_wait() {
    let full = queue(1);
    accepts(&full, &["a"], Block);
    let logger = {
        let full = Arc::clone(&full);
        start("logger", move || full.put("b".to_owned(), Block))
    };
    let empty = queue(1);
    let writer = writer(&empty);
    let cause = "the stop came after a thread checked the flag and before it waited, and no thread will notify again. Set the flag under \
                 the lock that a waiter holds from its check until its wait";
    stop(&full);
    stop(&empty);
    is_refused(
        join("put(), which found the queue full,", cause, logger),
        "put() found the queue full when it was stopped",
    );
    join("run(), whose queue is stopped,", cause, writer.1);
}

pub fn stop_releases_every_put_that_waits() {
    let queue = queue(1);
    accepts(&queue, &["a"], Block);
    let blocked = TwoBlocked::start(&queue, ["b", "c"]);
    stop(&queue);
    for result in blocked.join(NO_END) {
        is_refused(result, "put() waited for room when the queue was stopped");
    }
    books(&queue, [1, 0, 0, 0, 2], REFUSED);
    written_at_the_end(&queue, "a", REFUSED);
}

const REFUSED: &str = "a line that comes after the stop, or waits at the stop, is refused: it is counted as such, leaves no gap, and no \
                       other line is dropped for it";

pub fn after_the_stop_every_line_is_refused() {
    for room in [1, 2] {
        let queue = queue(room);
        accepts(&queue, &["a"], DropOldest);
        stop(&queue);
        for overflow in [Block, DropNewest, DropOldest] {
            refuses(&queue, "b", overflow);
        }
        books(&queue, [1, 0, 0, 0, 3], REFUSED);
        written_at_the_end(&queue, "a", REFUSED);
        refuses(&queue, "c", Block);
        books(&queue, [1, 1, 0, 0, 4], REFUSED);
    }
}

pub fn accepted_means_written() {
    let queue = queue(1);
    accepts(&queue, &["a"], Block);
    let logger = {
        let queue = Arc::clone(&queue);
        start("logger", move || queue.put("b".to_owned(), Block))
    };
    let writer = writer(&queue);
    stop(&queue);
    let result = join("put()", NO_END, logger);
    join("run(), whose queue is stopped,", NO_END, writer.1);
    let shown = writer.0.shown();
    let cause = "check that the queue is not stopped and push the line in one step, under one lock. Check again after every wait: \
                 otherwise the writer finds the queue stopped and empty, and ends, and a line is accepted after that";
    match (result, shown.as_str()) {
        (Ok(()), "a b") => books(&queue, [2, 2, 0, 0, 0], BOOKS),
        (Err(NotLogged::Stopped), "a") => books(&queue, [1, 1, 0, 0, 1], BOOKS),
        (result, shown) => {
            fail(&format!("put(\"b\") returned {result:?}, and the log is \"{shown}\""), cause)
        }
    }
}

/// Checks that the counts can have been true at the same moment, in a queue with room for one line.
fn are_of_one_moment(counts: Counts) {
    let Counts { accepted, written, dropped, dropped_accepted, .. } = counts;
    // At most one line waits, and at most one line is being written.
    if written + dropped_accepted > accepted
        || accepted > written + dropped_accepted + 2
        || dropped_accepted > dropped
    {
        fail(
            &format!("counts() returned {counts:?} for a queue with room for one line"),
            "these numbers were never true together. Change them under one lock, and read them under the same lock: put() counts a line \
             and pushes it in one step, and counts() copies all in one step",
        );
    }
}

pub fn counts_are_of_one_moment() {
    let queue = queue(1);
    let (paper, running) = writer(&queue);
    let logger = {
        let queue = Arc::clone(&queue);
        start("logger", move || {
            for accepted in 1..=3 {
                let result = queue.put(accepted.to_string(), DropOldest);
                let counted = queue.counts().accepted;
                if result != Ok(()) || counted != accepted {
                    fail(
                        &format!(
                            "the only logger put line {accepted}: put() returned {result:?}, and then `accepted` was {counted}"
                        ),
                        BOOKS,
                    );
                }
            }
        })
    };
    for _ in 0..4 {
        are_of_one_moment(counts(&queue));
        thread::yield_now();
    }
    join("put() with DropOldest", NOT_WOKEN, logger);
    stop(&queue);
    join("run(), whose queue is stopped,", NO_END, running);
    let Counts { accepted, written, dropped, dropped_accepted, refused } = counts(&queue);
    if (accepted, refused) != (3, 0)
        || written != paper.lines.get() as u64
        || written + dropped_accepted != 3
        || dropped != dropped_accepted
    {
        fail(
            &format!(
                "three lines were accepted and {} were written; counts() returned {:?}",
                paper.lines.get(),
                counts(&queue)
            ),
            BOOKS,
        );
    }
}

pub fn the_books_balance() {
    let queue = queue(1);
    let loggers = [("k", Block), ("x", DropOldest)].map(|(name, overflow)| {
        let queue = Arc::clone(&queue);
        start(&format!("logger {name}"), move || {
            [1, 2].map(|number| queue.put(format!("{name}{number}"), overflow))
        })
    });
    let writer = writer(&queue);
    thread::yield_now();
    stop(&queue);
    let results = loggers.map(|logger| join("put()", NO_END, logger));
    join("run(), whose queue is stopped,", NO_END, writer.1);
    let shown = writer.0.shown();
    let counts = counts(&queue);
    let told = || format!("put() returned {results:?}, the log is \"{shown}\", and {counts:?}");

    let entries: Vec<&str> = shown.split_whitespace().collect();
    let gaps: u64 = entries
        .iter()
        .filter_map(|entry| entry.strip_prefix('<')?.strip_suffix('>')?.parse::<u64>().ok())
        .sum();
    let of = |name: &str| entries.iter().copied().filter(|entry| entry.starts_with(name)).collect::<Vec<_>>();
    if !of("k").is_sorted() || !of("x").is_sorted() {
        fail(&told(), "the lines of one thread must come in the order of its calls");
    }
    let puts = |result| results.iter().flatten().filter(|one| **one == result).count() as u64;
    let lines = (of("k").len() + of("x").len()) as u64;
    if gaps != counts.dropped {
        fail(&told(), "the gaps in the log must add up to `dropped` in counts()");
    }
    let [accepted, full, refused] = [Ok(()), Err(NotLogged::Full), Err(NotLogged::Stopped)].map(puts);
    if [accepted, full, refused]
        != [counts.accepted, counts.dropped - counts.dropped_accepted, counts.refused]
        || lines != counts.written
        || counts.accepted != counts.written + counts.dropped_accepted
    {
        fail(&told(), BOOKS);
    }
    let kept = results[0].iter().filter(|result| result.is_ok()).count();
    if of("k").len() != kept {
        fail(&told(), LOST);
    }
}

/// Stops the queue, calls run() on the test's own thread, and returns the entries that run() hands out.
fn handed_out(queue: &LogQueue) -> Vec<Record> {
    stop(queue);
    let mut entries = Vec::new();
    expect("run(), whose queue is stopped,", NO_END, || queue.run(|entry| entries.push(entry)));
    entries
}

pub fn any_line_and_any_room_will_do() {
    let no_bound = "the room may be usize::MAX. The room is only a bound: ask for no memory for lines that may never come, and add \
                    nothing to `room`";
    for room in [4, usize::MAX] {
        let queue = expect("new() and put()", no_bound, || {
            let queue = queue(room);
            let puts = [("", Block), ("a", Block), ("a", DropNewest), ("", DropOldest)];
            for (line, overflow) in puts {
                let result = queue.put(line.to_owned(), overflow);
                if result != Ok(()) {
                    fail(
                        &format!("in a queue with room for {room}, put({line:?}) returned {result:?}"),
                        no_bound,
                    );
                }
            }
            queue
        });
        let entries = handed_out(&queue);
        if entries != ["", "a", "a", ""].map(|line| Record::Line(line.to_owned())) {
            fail(
                &format!("\"\", \"a\", \"a\", \"\" were put, and run() handed out {entries:?}"),
                "a line may be empty, and two lines may be equal: the order and the fate of a line must not depend on its text",
            );
        }
        books(&queue, [4, 4, 0, 0, 0], BOOKS);
    }
}

pub fn many_lines_and_gaps_are_told() {
    const HALF: usize = 300;
    const MANY: usize = 2 * HALF;
    let queue = queue(MANY);
    let lines: Vec<String> = (0..2 * MANY).map(|number| format!("line {}", number / 2)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    accepts(&queue, &lines[..HALF], Block);
    accepts(&queue, &lines[HALF..MANY], DropOldest);
    drops(&queue, &["x"; MANY], DropNewest);
    accepts(&queue, &lines[MANY..], DropOldest);
    drops(&queue, &["x"; MANY], DropNewest);
    let (mut gaps, mut written) = (vec![0; MANY + 1], Vec::new());
    for entry in handed_out(&queue) {
        match entry {
            Record::Missing(count) => gaps[written.len().min(MANY)] += count,
            Record::Line(line) => written.push(line),
        }
    }
    if written != [&lines[..HALF], &lines[MANY + HALF..]].concat() {
        let seen = format!("of {} lines the first {HALF} and the last {HALF} should be written", 2 * MANY);
        fail(&format!("{seen}; the log has {} lines, and not these lines", written.len()), ORDER);
    }
    let (many, middle, end) = (MANY as u64, gaps[HALF], gaps[MANY]);
    if (middle, end, gaps.iter().sum()) != (2 * many, many, 3 * many) {
        fail(
            &format!(
                "{} lines are missing in the middle and {many} at the end; the gaps in these places are {middle} and {end}",
                2 * many
            ),
            "a gap must count all dropped lines, however many, and stand in their place: use the type of the counts",
        );
    }
    books(&queue, [2 * many, many, 3 * many, many, 0], BOOKS);
}
