//! The properties of a scheduler; each property is a function. `exercise.toml` lists the properties and says
//! what each of them promises.

mod below;
mod clock;
mod endings;
mod log;
mod many;
mod times;

pub use endings::*;
pub use many::*;
pub use times::*;

use super::exercise;

const EARLY: &str = "a wait that returns says nothing about the time: wake() ends it, too, and it may end for no reason. Look at the \
                     clock, and run what is due and nothing else; the end of a run is counted from the moment of schedule()";
const LATE: &str = "when a run is due, the thread has to be awake, find it and give it to the inner executor";
const BELOW_RUNS: &str = "a run happens where the inner executor calls what it was given: on no thread of yours, and not where \
                          schedule() is called";
const ORDER: &str = "the earliest is the first, and of those of the same time the one that was scheduled first. No two are the same: \
                     each needs a place of its own, with the time and a number. And read the clock before you look at the schedule, or \
                     under its lock: else a later one can pass an earlier one";
const EARLIER: &str = "the thread sleeps until a time that was the earliest when it looked. An earlier one came later: put it in, and then \
                       call wake(), in this order, so that the thread finds it when it looks again";
const SPINS: &str = "the thread looks at the clock again and again. If nothing is due, it has to sleep in wait_until(): until the earliest \
                     time of those that wait, among which a run that is under way is not, or until NEVER";
const BUSY: &str = "schedule() and cancel() change what is planned, and wait for no thread: no lock that they need is held while the thread \
                    sleeps, while the inner executor is called, or while a run is under way";
const LONG: &str = "a run takes as long as it takes. The thread that watches the time runs nothing itself: it gives what is due to the \
                    inner executor, and looks at the clock again";
const GOES_ON: &str =
    "a series has to be planned again when its run has ended, and the thread has to hear of it: by wake()";
const DRIFT: &str = "a fixed rate has a grid: the next run is due one period after the time at which this one was *due*. Counted from \
                     the begin of the run, or from its end, it would come a little later each time. And the thread has to hear of it, by wake()";
const MISSED: &str = "no run is left out: if the time has passed for several, they run one after the other until the series is on time \
                      again. One period after the time at which the last run was due, whatever the clock says, is all it takes";
const OVERLAP: &str =
    "the next run of a series must not begin before this one has ended: plan it when that has happened";
const KEEPS_A_THREAD: &str = "a run that is due while the one before it is under way waits in the schedule, and not on a thread of the \
                              executor: give it to the executor when the other one has ended";
const PANIC: &str = "a panic ends a run, and nothing else. Catch it where the closure is called, so that what comes after it is done in any \
                     case: the series goes on with its next run, and a closure that has no next run is dropped";
const WITHIN: &str = "a run may do anything: no lock is held during it, and no thread waits for it, since it would wait for itself. The \
                      inner executor may call it before its execute() returns, so no lock is held there either";
const FOREVER: &str = "a delay or a period may be as long as a number can be. A time beyond NEVER is NEVER: saturating_add() does not panic \
                       and does not begin anew at 0. A time is a u64 wherever you keep or compare it";
const CANCELLED: &str = "cancel() takes its entry, and no other one, out of the schedule, so that no run begins from then on: not at its time, \
                         and not if the inner executor has it already, and has not called it yet";
const LET_GO: &str = "cancel() has to let go of the closure, with all that it has captured, and not only to note that it shall not run: its \
                      time may be far away";
const COMES_BACK: &str = "a run was under way when its entry was cancelled. When it ends, look whether the entry is still there, and put it \
                          back, or not, under one lock";
const OWN_END: &str = "a run may cancel its own entry. cancel() must not wait for the end of the run, and the end of the run has to see \
                       that the entry is gone";
const AFTER_THE_LAST: &str = "a closure that will not run again is dropped when its last run has ended";
const UNDER_LOCK: &str = "a closure may have captured anything, and what it has captured may use the scheduler when it is dropped: so take \
                          closures out under the lock, and drop them when the lock is free";
const ENDS: &str = "shutdown() tells the thread, which may sleep until NEVER, with wake(), and what it tells must be there before it \
                    wakes it: and then it waits for the end of the thread, and of nothing else";
const DROPPED: &str = "what has not begun will not run any more: shutdown() has to take all closures out of the schedule, and to drop them";
const SHUT_FOR_GOOD: &str = "after shutdown() nothing is put into the schedule any more: not by schedule(), and not at the end of a run that was \
                             under way. No thread would ever take it out again. Look at that under the lock that shutdown() takes";
const NO_WAIT_FOR_RUNS: &str =
    "shutdown() waits for the thread that watches the time. A run that is under way may take for ever";
