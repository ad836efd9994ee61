//! The events of one pool's life: the settings, the steps of each thread, and the way in which the pool
//! ends.

use std::fmt;

use crate::dice::Dice;

/// The life of a pool as data, so that a failure can print it and a test can name it.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(super) struct Scenario {
    pub(super) queue: Queue,
    pub(super) core: usize,
    pub(super) maximum: usize,
    pub(super) core_timeout: bool,
    pub(super) threads_first: bool,
    pub(super) policy: Policy,
    /// The results of the factory's first calls. In all later calls, the factory starts threads.
    pub(super) factory: Vec<Call>,
    /// True if each hook panics at the end of its call.
    pub(super) hooks_panic: bool,
    /// The steps of each thread. The last of these threads is the test's main thread.
    pub(super) scripts: Vec<Vec<Step>>,
    /// True if the main thread waits for the end of all tasks before it ends the pool.
    pub(super) patient: bool,
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    Unbounded,
    Bounded(usize),
    HandOff,
    Priority,
    PriorityBounded(usize),
    /// A priority queue with a comparator that a user has written.
    Compared,
    Lifo,
    LifoBounded(usize),
    /// A user's queue, which drops its oldest task when it is full.
    Ring(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    Abort,
    Block,
    BlockAWhile,
    CallerRuns,
    Discard,
    DiscardOldest,
}

/// The outcome of one call of a thread factory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Starts,
    Fails,
    Panics,
    /// Reports that a thread has started, but drops the worker.
    Drops,
    /// Reports that a thread has started; another thread drops the worker later.
    DropsLater,
}

impl Call {
    pub(super) fn is_a_lie(self) -> bool {
        matches!(self, Self::Drops | Self::DropsLater)
    }
}

/// The body of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Quick,
    /// The body waits until the main thread opens the gate, or until the task is cancelled.
    Gate,
    Panics,
    /// The body submits a quick task to the pool that runs the body.
    Submits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Submit(Body),
    /// Submits a task without a handle.
    Execute(Body),
    /// Drops the handle of the newest task.
    Forget,
    Cancel(Which),
    Remove(Which),
    RemoveByHandle(Which),
    Purge,
    /// Checks the counts.
    Look,
    Maximum(usize),
    Core(usize),
    Threads(usize),
    CoreTimeout(bool),
    Prestart,
    /// Waits for the newest task.
    Join,
    Shutdown,
    ShutdownNow,
    /// Shuts the pool down and waits until the pool has terminated.
    Close,
}

/// The choice of one task among the tasks of all threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Oldest,
    Newest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Close,
    ShutdownNow,
    Drop,
    DropCancelling,
    DropDetached,
}

impl Scenario {
    /// Returns a pool of one thread with an unbounded queue, and no steps. A test that names its own scenario
    /// derives that scenario from this value.
    pub(super) fn plain() -> Self {
        Self {
            queue: Queue::Unbounded,
            core: 1,
            maximum: 1,
            core_timeout: false,
            threads_first: false,
            policy: Policy::Abort,
            factory: Vec::new(),
            hooks_panic: false,
            scripts: Vec::new(),
            patient: true,
            end: End::Close,
        }
    }

    /// Draws a random scenario; the same seed gives the same scenario.
    pub(super) fn draw(seed: u64) -> Self {
        let dice = &mut Dice(seed);
        let queue = match dice.up_to(11) {
            0..=2 => Queue::Unbounded,
            3 => Queue::Bounded(1),
            4 => Queue::Bounded(2),
            5 | 6 => Queue::HandOff,
            7 => Queue::Priority,
            8 => Queue::PriorityBounded(1),
            9 => Queue::Lifo,
            10 => Queue::LifoBounded(1),
            _ => *dice.one_of(&[Queue::Ring(1), Queue::Compared]),
        };
        let threads_first = dice.in_one_of(4);
        let core = dice.up_to(2);
        let grows = threads_first || queue.refuses();
        let maximum = core.max(1) + if grows { dice.up_to(2) } else { 0 };
        let policy = *dice.one_of(&[
            Policy::Abort,
            Policy::Abort,
            Policy::Block,
            Policy::BlockAWhile,
            Policy::CallerRuns,
            Policy::Discard,
            Policy::DiscardOldest,
        ]);
        let calls = [Call::Starts, Call::Fails, Call::Panics, Call::Drops, Call::DropsLater];
        let factory =
            if dice.in_one_of(4) { (0..3).map(|_| *dice.one_of(&calls)).collect() } else { Vec::new() };
        let mut scenario = Self {
            queue,
            core,
            maximum: maximum.min(3),
            core_timeout: dice.in_one_of(2),
            threads_first,
            policy,
            factory,
            hooks_panic: dice.in_one_of(8),
            scripts: Vec::new(),
            patient: !dice.in_one_of(3),
            end: *dice.one_of(&[
                End::Close,
                End::Close,
                End::ShutdownNow,
                End::Drop,
                End::DropCancelling,
                End::DropDetached,
            ]),
        };
        let threads = 2 + dice.up_to(1);
        let ends_early = dice.in_one_of(4);
        scenario.scripts = (0..threads)
            .map(|_| {
                (0..=1 + dice.up_to(2))
                    .map(|nth| scenario.draw_step(dice, nth == 0, ends_early))
                    .collect::<Vec<_>>()
            })
            .collect();
        scenario
    }

    fn draw_step(&self, dice: &mut Dice, first: bool, ends_early: bool) -> Step {
        let which = *dice.one_of(&[Which::Oldest, Which::Newest, Which::Newest]);
        match if first { dice.up_to(4) } else { dice.up_to(19) } {
            0..=6 => Step::Submit(self.draw_body(dice)),
            7 | 8 => Step::Execute(self.draw_body(dice)),
            9 | 10 => Step::Cancel(which),
            11 => Step::Remove(which),
            12 => Step::RemoveByHandle(which),
            13 => *dice.one_of(&[Step::Purge, Step::Forget]),
            14 => Step::Look,
            15 => Step::Maximum(1 + dice.up_to(2)),
            16 => Step::Core(dice.up_to(2)),
            17 => *dice.one_of(&[
                Step::Threads(1),
                Step::Threads(2),
                Step::CoreTimeout(true),
                Step::CoreTimeout(false),
                Step::Prestart,
            ]),
            18 if self.opens_early() => Step::Join,
            // A call of `close` waits for the tasks at the gate.
            _ if ends_early && self.opens_early() => {
                *dice.one_of(&[Step::Shutdown, Step::ShutdownNow, Step::Close])
            }
            _ if ends_early => *dice.one_of(&[Step::Shutdown, Step::ShutdownNow]),
            _ => Step::Submit(Body::Quick),
        }
    }

    fn draw_body(&self, dice: &mut Dice) -> Body {
        match dice.up_to(6) {
            0..=2 => Body::Quick,
            3 | 4 => Body::Gate,
            5 => Body::Panics,
            // If a task waits for room in its own pool, the task occupies the thread that could make room.
            // Such a deadlock is a fault of the task itself.
            _ if self.policy == Policy::Block => Body::Quick,
            _ => Body::Submits,
        }
    }

    /// Returns true if the gate must open before the threads have done all their steps. The gate must open
    /// early if a submitter may have to wait for a task that waits at the gate.
    pub(super) fn opens_early(&self) -> bool {
        matches!(self.policy, Policy::Block | Policy::BlockAWhile | Policy::CallerRuns)
    }

    /// Returns true if any task submits another task.
    pub(super) fn has_children(&self) -> bool {
        let submits =
            |step: &Step| matches!(step, Step::Submit(Body::Submits) | Step::Execute(Body::Submits));
        self.scripts.iter().flatten().any(submits)
    }

    pub(super) fn factory_lies(&self) -> bool {
        self.factory.iter().any(|call| call.is_a_lie())
    }

    /// Returns the largest value that the pool's maximum of threads has in the scenario.
    pub(super) fn highest_maximum(&self) -> usize {
        let set = self.scripts.iter().flatten().filter_map(|step| match *step {
            Step::Maximum(threads) | Step::Threads(threads) => Some(threads),
            _ => None,
        });
        set.fold(self.maximum, usize::max)
    }
}

impl Queue {
    pub(super) fn capacity(self) -> Option<usize> {
        match self {
            Self::Bounded(capacity)
            | Self::PriorityBounded(capacity)
            | Self::LifoBounded(capacity)
            | Self::Ring(capacity) => Some(capacity),
            Self::Unbounded | Self::HandOff | Self::Priority | Self::Compared | Self::Lifo => None,
        }
    }

    /// Returns true if the policy may refuse a task.
    fn refuses(self) -> bool {
        self == Self::HandOff || self.capacity().is_some()
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, core, maximum, core_timeout, threads_first, policy, factory, .. } = self;
        write!(f, "  {queue:?}, core {core}, maximum {maximum}, core time-out {core_timeout}")?;
        writeln!(f, ", threads first {threads_first}, {policy:?}, factory {factory:?}")?;
        for script in &self.scripts {
            writeln!(f, "  {script:?}")?;
        }
        let Self { hooks_panic, patient, end, .. } = self;
        write!(f, "  patient {patient}, hooks panic {hooks_panic}, {end:?}")
    }
}
