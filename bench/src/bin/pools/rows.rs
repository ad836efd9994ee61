//! The rows: the workload, the peers and the goals of each row.

use bench::contest::{self, Goal, Measure};

use crate::load::{Load, Measured, tiny, unequal};
use crate::{ours, peers};

/// One workload.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The load of the row, unless the command line changes it.
    pub(crate) load: Load,
    pub(crate) threads: Threads,
    pub(crate) ours: Side,
    pub(crate) peers: &'static [Peer],
}

/// The numbers of threads that the command line may change in a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// Both numbers.
    Any,
    /// The number of workers; in this row only one thread submits.
    OneSubmitter,
    /// The command line must not change either number, because the row measures threads.
    Measured,
}

pub(crate) struct Peer {
    pub(crate) name: &'static str,
    side: Side,
    goals: &'static [Goal],
}

#[derive(Clone, Copy)]
pub(crate) enum Side {
    /// The peer runs in this process.
    Here(fn(&Load) -> Measured),
    /// The peer runs in a Java process, in the given mode of `Peers.java`.
    Java(&'static str),
}

/// The peers of `java.util.concurrent`.
pub(crate) const SOURCE: &str = "src/bin/pools/Peers.java";

/// How often a Java peer runs its whole load before a run counts.
const JAVA_WARM_UPS: u32 = 3;

impl Side {
    pub(crate) fn start(self, load: Load) -> anyhow::Result<Measure> {
        let Load { tasks, submitters, workers } = load;
        match self {
            Self::Here(run) => Ok(Box::new(move || Ok(run(&load).for_each_of(tasks)))),
            Self::Java(mode) => {
                let text = format!("{tasks} {submitters} {workers}");
                contest::java(SOURCE, mode, JAVA_WARM_UPS, text, tasks as f64)
            }
        }
    }
}

const fn load(tasks: u64, submitters: usize, workers: usize) -> Load {
    Load { tasks, submitters, workers }
}

const fn here(name: &'static str, run: fn(&Load) -> Measured) -> Peer {
    Peer { name, side: Side::Here(run), goals: &[] }
}

const fn java(name: &'static str, mode: &'static str) -> Peer {
    Peer { name, side: Side::Java(mode), goals: &[] }
}

impl Peer {
    const fn goals(self, goals: &'static [Goal]) -> Self {
        Self { goals, ..self }
    }

    /// Returns the peer for a contest in which this load is used.
    pub(crate) fn of(&self, load: Load) -> contest::Peer {
        let Peer { name, side, goals } = *self;
        contest::Peer { name, goals, start: Box::new(move || side.start(load)) }
    }
}

const CROSSBEAM: Peer = here("crossbeam-channel pool", |load| peers::crossbeam(load, tiny));
const KANAL: Peer = here("kanal pool", |load| peers::kanal(load, tiny));
const MUTEX: Peer = here("mutex+condvar", |load| peers::mutex_and_condvar(load, tiny));
const RAYON: Peer = here("rayon spawn", |load| peers::rayon_spawn(load, tiny));
const RUSTY_POOL: Peer = here("rusty_pool", |load| peers::rusty_pool(load, tiny));
const THREADPOOL: Peer = here("threadpool", |load| peers::threadpool(load, tiny));
const TOKIO: Peer = here("tokio spawn", |load| peers::tokio_spawn(load, tiny));
const JAVA_FJP: Peer = java("Java ForkJoinPool async", "fjp");
const JAVA_TPE: Peer = java("Java ThreadPoolExecutor", "tpe");

/// All rows, in the order in which they are measured.
pub(crate) static ROWS: [Row; 10] = [
    Row {
        name: "A",
        title: "tiny tasks, a queue without a bound",
        load: load(1_000_000, 1, 2),
        threads: Threads::Any,
        ours: Side::Here(|load| ours::execute(load, tiny)),
        peers: &[
            CROSSBEAM.goals(&[Goal::Time(0.35)]),
            JAVA_FJP.goals(&[Goal::Time(0.5)]),
            KANAL,
            RUSTY_POOL,
            RAYON,
            JAVA_TPE,
            THREADPOOL,
            TOKIO,
            MUTEX,
        ],
    },
    Row {
        name: "B",
        title: "tiny tasks, a queue without a bound",
        load: load(1_000_000, 4, 2),
        threads: Threads::Any,
        ours: Side::Here(|load| ours::execute(load, tiny)),
        peers: &[
            JAVA_TPE.goals(&[Goal::Time(0.3)]),
            CROSSBEAM.goals(&[Goal::Time(0.6)]),
            KANAL.goals(&[Goal::Time(1.0)]),
            JAVA_FJP,
            THREADPOOL,
            RUSTY_POOL,
            RAYON,
            TOKIO,
            MUTEX,
        ],
    },
    Row {
        name: "C",
        title: "submit and join, one at a time",
        load: load(50_000, 1, 2),
        threads: Threads::OneSubmitter,
        ours: Side::Here(ours::submit_and_join),
        peers: &[
            here("rayon install", peers::rayon_install).goals(&[Goal::Time(0.2)]),
            here("crossbeam+oneshot", peers::crossbeam_oneshot),
            java("Java ThreadPoolExecutor", "tpe-join"),
            java("Java ForkJoinPool async", "fjp-join"),
            here("tokio spawn", peers::tokio_spawn_and_join),
            here("threadpool+mpsc", peers::threadpool_channel),
        ],
    },
    Row {
        name: "D blocking",
        title: "tiny tasks, 1024 may wait, then the submitter waits",
        load: load(1_000_000, 1, 2),
        threads: Threads::Any,
        ours: Side::Here(ours::blocking),
        peers: &[
            here("crossbeam-channel pool", peers::crossbeam_blocking).goals(&[Goal::Time(0.6)]),
            here("kanal pool", peers::kanal_blocking),
            java("Java ThreadPoolExecutor", "tpe-block"),
        ],
    },
    Row {
        name: "D caller-runs",
        title: "tiny tasks, 1024 may wait, then the submitter runs the task",
        load: load(1_000_000, 1, 2),
        threads: Threads::Any,
        ours: Side::Here(ours::caller_runs),
        peers: &[
            here("crossbeam-channel pool", peers::crossbeam_caller_runs).goals(&[Goal::Cpu(0.5)]),
            java("Java ThreadPoolExecutor", "tpe-caller"),
            here("kanal pool", peers::kanal_caller_runs),
        ],
    },
    Row {
        name: "F",
        title: "results in the order of their completion",
        load: load(200_000, 1, 2),
        threads: Threads::OneSubmitter,
        ours: Side::Here(ours::completion_order),
        peers: &[
            here("crossbeam-channel pool", peers::crossbeam_results).goals(&[Goal::Time(0.8)]),
            here("threadpool+mpsc", peers::threadpool_results),
            java("Java ExecutorCompletionService", "ecs"),
            here("ours, joined in turn", ours::joined_in_turn).goals(&[Goal::Time(1.0)]),
            here("ours, results sent through crossbeam-channel", ours::results_sent),
        ],
    },
    Row {
        name: "I",
        title: "threads started, idle for a moment, and ended; a task is a thread",
        load: load(200, 1, 1),
        threads: Threads::Measured,
        ours: Side::Here(ours::threads),
        peers: &[here("bare threads", peers::bare_threads), java("Java ThreadPoolExecutor", "threads")],
    },
    Row {
        name: "4x4",
        title: "tiny tasks, a queue without a bound",
        load: load(1_000_000, 4, 4),
        threads: Threads::Any,
        ours: Side::Here(|load| ours::execute(load, tiny)),
        peers: &[CROSSBEAM, JAVA_FJP, JAVA_TPE],
    },
    Row {
        name: "8x8",
        title: "tiny tasks, a queue without a bound",
        load: load(1_000_000, 8, 8),
        threads: Threads::Any,
        ours: Side::Here(|load| ours::execute(load, tiny)),
        peers: &[CROSSBEAM, JAVA_FJP, JAVA_TPE],
    },
    Row {
        name: "unequal",
        title: "short tasks, one in 32 of them 100 times as long",
        load: load(500_000, 1, 2),
        threads: Threads::Any,
        ours: Side::Here(|load| ours::execute(load, unequal)),
        peers: &[
            here("crossbeam-channel pool", |load| peers::crossbeam(load, unequal)),
            here("kanal pool", |load| peers::kanal(load, unequal)),
            here("rayon spawn", |load| peers::rayon_spawn(load, unequal)),
            java("Java ForkJoinPool async", "fjp-unequal"),
            java("Java ThreadPoolExecutor", "tpe-unequal"),
        ],
    },
];

/// Returns the rows that a word of the command line means: one row, or both rows if the word is `D`. A hyphen
/// in the word means a blank.
pub(crate) fn called(word: &str) -> Vec<&'static Row> {
    let wanted = word.replace('-', " ").to_lowercase();
    let fits = |row: &&Row| {
        let name = row.name.replace('-', " ").to_lowercase();
        name == wanted || name.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with(' '))
    };
    ROWS.iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_command_line_means_a_row_or_both_of_a_letter() {
        let names = |word| called(word).iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names("a"), ["A"]);
        assert_eq!(names("D"), ["D blocking", "D caller-runs"]);
        assert_eq!(names("D-caller-runs"), ["D caller-runs"]);
        assert_eq!(names("d blocking"), ["D blocking"]);
        assert!(names("D2").is_empty() && names("").is_empty());
    }
}
