//! The scenes, which show the faults of each step.

use logservice_road::s1_no_stop::LogWriter;
use logservice_road::s2_racing_flag::FlaggedLog;
use logservice_road::s3_wrong_lock::TwoLockLog;
use logservice_road::s4_kept_reservation::KeepingLog;
use logservice_road::s5_reservations::LogService;
use logservice_road::s6_executor_service::ExecutorLog;
use logservice_road::s7_cached_pool::CachedPoolLog;
use logservice_road::s8_poison_pill::PillLog;
use logservice_road::s9_pill_and_gate::GatedPillLog;
use logservice_road::{Gaps, Log};

use super::scene::{Held, Scene, seen};

type Show = fn() -> Vec<String>;

pub(crate) fn of(step: usize) -> &'static [Show] {
    match step {
        1 => &[process_ends, writer_killed],
        2 => &[two_in_the_gap::<FlaggedLog>],
        3 => &[count_too_low, count_below_zero],
        4 => &[interrupted_client::<KeepingLog, false>],
        5 => &[interrupted_client::<LogService, true>],
        6 => &[interrupted_client::<ExecutorLog, true>],
        7 => &[two_threads_write, closed_under_a_task],
        8 => &[two_in_the_gap::<PillLog>],
        _ => &[interrupted_client::<GatedPillLog, true>],
    }
}

/// Shows what happens to the log if `main` returns while the disk is slow.
fn process_ends() -> Vec<String> {
    let mut scene = Scene::<LogWriter>::new(2, &Gaps::none());
    scene.paper.hold(|_| true);
    scene.log("one");
    scene.paper.wait_for_writers(1);
    scene.say("the disk is slow: the writer is in the middle of \"one\"");
    scene.log("two");
    scene.log("three");
    scene.say("main returns, and the process ends");
    scene.over()
}

fn writer_killed() -> Vec<String> {
    let mut scene = Scene::<LogWriter>::new(1, &Gaps::none());
    scene.log("one");
    scene.paper.wait_for_lines(1);
    scene.log.stop();
    scene.say("the writer is killed");
    scene.log("two");
    let client = scene.begin("three");
    scene.hangs(&client);
    scene.over()
}

/// Two clients check the flag, and then the log is stopped.
// ANCHOR: gap
fn two_in_the_gap<L: Log>() -> Vec<String> {
    let (held, gaps) = Held::after("has seen that the log is open", 2);
    let mut scene = Scene::<L>::new(1, &gaps);
    let first = scene.begin("one");
    held.wait_for(0);
    let second = scene.begin("two");
    held.wait_for(1);
    scene.say("two clients have seen that the log is open");
    scene.stop();
    held.let_go(0);
    scene.end(&first);
    held.let_go(1);
    scene.hangs(&second);
    scene.over()
}
// ANCHOR_END: gap

/// The writer reads a count of 1, and then a client sets the count to 2. Afterwards, the writer sets the
/// count to 0.
// ANCHOR: count
fn count_too_low() -> Vec<String> {
    let (held, gaps) = Held::after("the writer has read the count", 1);
    let (stopped, gaps) = seen("the log is stopped", &gaps);
    let mut scene = Scene::<TwoLockLog>::new(1, &gaps);
    scene.log("one");
    held.wait_for(0);
    scene.say("the writer has written \"one\" and read the count: 1");
    scene.log("two");
    scene.say("that client made it 2");
    let stopping = scene.begin_to_stop();
    stopped.recv().expect("it is stopped");
    held.let_go(0);
    scene.say("the log is stopped; the writer makes the count 0, and ends");
    scene.stop_returns(&stopping);
    scene.over()
}
// ANCHOR_END: count

/// Repeats the lost update of [`count_too_low`], but stops the log later, so that the writer also decreases
/// the count for the line "two".
fn count_below_zero() -> Vec<String> {
    let (held, gaps) = Held::after("the writer has read the count", 1);
    let mut scene = Scene::<TwoLockLog>::new(1, &gaps);
    scene.log("one");
    held.wait_for(0);
    scene.say("the writer has written \"one\" and read the count: 1");
    scene.log("two");
    scene.say("that client made it 2");
    held.let_go(0);
    scene.paper.wait_for_lines(2);
    scene.say("the writer makes it 0, writes \"two\", and makes it -1");
    let stopping = scene.begin_to_stop();
    scene.stop_hangs(&stopping);
    scene.over()
}

/// A client is cancelled while it waits for room in the queue, and then the log is stopped.
// ANCHOR: interrupted
fn interrupted_client<L: Log, const STOPS: bool>() -> Vec<String> {
    let mut scene = Scene::<L>::new(1, &Gaps::none());
    scene.paper.hold(|_| true);
    scene.log("one");
    scene.paper.wait_for_writers(1);
    scene.log("two");
    scene.say("the queue is full");
    let client = scene.begin("three");
    scene.cancel(&client);
    scene.paper.let_go();
    scene.paper.wait_for_lines(2);
    let stopping = scene.begin_to_stop();
    if STOPS {
        scene.stop_returns(&stopping);
        scene.log("four");
    } else {
        scene.stop_hangs(&stopping);
    }
    scene.over()
}
// ANCHOR_END: interrupted

fn two_threads_write() -> Vec<String> {
    let mut scene = Scene::<CachedPoolLog>::new(1, &Gaps::none());
    scene.paper.hold(|line| line == "one");
    scene.log("one");
    scene.paper.wait_for_writers(1);
    scene.say("a thread is about to write \"one\", and the system lets another go first");
    scene.log("two");
    scene.paper.wait_for_lines(1);
    scene.paper.let_go();
    scene.paper.wait_for_lines(2);
    scene.stop();
    scene.over()
}

fn closed_under_a_task() -> Vec<String> {
    let mut scene = Scene::<CachedPoolLog>::new(1, &Gaps::none());
    scene.paper.hold(|_| true);
    scene.log("one");
    scene.paper.wait_for_writers(1);
    scene.say("the disk is slow: a thread is in the middle of \"one\"");
    scene.stop();
    scene.paper.let_go();
    scene.paper.wait_for_lines(1);
    scene.over()
}
