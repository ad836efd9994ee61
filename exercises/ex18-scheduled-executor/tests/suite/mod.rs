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

const EARLY: &str = "a wait that returns says nothing about the time: wake() ends a wait, too, and a wait may end for no reason. Read the \
                     clock after each wait, and run only what is due; a delay is counted from the call of schedule()";
const LATE: &str =
    "when a run is due, the thread must wake up, find the run and give it to the inner executor";
const BELOW_RUNS: &str = "a run happens where the inner executor calls its job: on no thread of yours, and not in the call of schedule()";
const ORDER: &str = "the entry with the earliest time is first; entries with the same time keep the order in which they were scheduled. \
                     Two entries may have the same time, so each needs a place of its own, with the time and a number. And read the clock \
                     before you look at the schedule, or under its lock: otherwise a later entry can overtake an earlier one";
const EARLIER: &str = "the thread sleeps until the time that was the earliest when it looked. An earlier one came later: put the entry \
                       in, and then call wake(), in this order, so that the thread finds the entry when it looks again";
const SPINS: &str = "the thread reads the clock again and again. If nothing is due, it must sleep in wait_until(): until the earliest \
                     time of the waiting entries, or until NEVER. An entry whose run is under way does not wait";
const BUSY: &str = "schedule() and cancel() change the schedule, and wait for no thread: hold no lock that they need while the thread \
                    sleeps, while the inner executor is called, or while a run is under way";
const LONG: &str = "a run may take long. The thread that watches the time runs nothing itself: it gives what is due to the inner \
                    executor, and looks at the clock again";
const GOES_ON: &str = "plan the next run of a series when its run has ended, and tell the thread with wake()";
const DRIFT: &str = "a fixed rate has a grid: the next run is due one period after the time at which this one was *due*. If you count \
                     from the beginning or the end of the run, each run comes a little later. And the thread has to hear of it: call \
                     wake()";
const MISSED: &str = "no run is left out: if the time has passed for several runs, they run one after the other until the series is on \
                      time again. For this, the next run is always due one period after the time at which the last run was due, whatever \
                      the clock says";
const OVERLAP: &str = "the next run of a series must not begin before this one has ended: plan the next run at the end of this one";
const KEEPS_A_THREAD: &str = "a run that is due while the previous run is under way waits in the schedule, and not on a thread of the \
                              executor: give it to the executor when the previous run has ended";
const PANIC: &str = "a panic ends only its run. Catch it where the closure is called, so that the steps after the run are done in any \
                     case: the series goes on with its next run, and a closure without a next run is dropped";
const WITHIN: &str = "a run may use the scheduler, so hold no lock during a run, and let cancel() and schedule() wait for no run. The \
                      inner executor may call the run before execute() returns, so hold no lock while you call execute() either";
const FOREVER: &str = "a delay or a period may be any u64. A time beyond NEVER is NEVER: use saturating_add(), which neither panics nor \
                       wraps to 0. A time is a u64 wherever you keep or compare it";
const CANCELLED: &str = "cancel() takes its entry, and no other one, out of the schedule, so that no run begins from then on: not at its \
                         time, and not if the inner executor has its job, but has not called it yet";
const LET_GO: &str = "cancel() has to drop the closure, with all that it has captured, and not only to note that it shall not run: the \
                      entry's time may be far away";
const COMES_BACK: &str = "a run was under way when its entry was cancelled. When the run ends, look whether the entry is still there, and \
                          if so, put the closure back under one lock with that check";
const OWN_END: &str = "a run may cancel its own entry. cancel() must not wait for the end of the run, and the code at the end of the run \
                       must see that the entry is gone";
const AFTER_THE_LAST: &str = "a closure that will not run again is dropped when its last run has ended";
const UNDER_LOCK: &str = "a closure may have captured a value whose drop uses the scheduler: so take closures out under the lock, and \
                          drop them after the lock is released";
const ENDS: &str = "shutdown() must set its flag and then wake the thread, which may sleep until NEVER, with wake(): the flag must be \
                    there before it wakes it. Then shutdown() waits for the end of the thread, and of nothing else";
const DROPPED: &str =
    "after shutdown(), no run begins: shutdown() must take all closures out of the schedule, and drop them";
const SHUT_FOR_GOOD: &str = "after shutdown() no entry is put into the schedule: not by schedule(), and not at the end of a run that was \
                             under way. No thread would ever take it out again. Check the flag under the lock that shutdown() takes";
const NO_WAIT_FOR_RUNS: &str =
    "shutdown() waits only for the thread that watches the time. A run that is under way may never end";
