//! The events of one scenario: the pools, the steps of their tasks, and the acts of the threads outside the
//! pools.

use std::time::Duration;

use crate::dice::Dice;

/// A scenario as data, so that a failure can print it and a test can name it.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) pools: Vec<PoolPlan>,
    /// The tasks that all threads can join from the beginning. A thread outside the pools runs or submits
    /// each of these tasks at some time.
    pub(super) named: Vec<Plan>,
    pub(super) promises: usize,
    /// The number of permits of each semaphore.
    pub(super) semaphores: Vec<usize>,
    /// The acts of each thread outside the pools.
    pub(super) outside: Vec<Vec<Act>>,
}

#[derive(Debug, Clone)]
pub(super) struct PoolPlan {
    pub(super) core: usize,
    pub(super) maximum: usize,
    /// The number of tasks that the queue can hold.
    pub(super) bound: Option<usize>,
    pub(super) full: WhenFull,
    pub(super) core_timeout: bool,
    /// The number of spare threads that the pool may start beyond its maximum, if threads starve.
    pub(super) spares: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhenFull {
    Abort,
    Block,
    CallerRuns,
}

/// The steps of a task, one after the other.
pub(super) type Plan = Vec<Step>;

#[derive(Debug, Clone)]
pub(super) enum Step {
    Yield,
    /// Submits a task and waits for it.
    Join(usize, Plan, How),
    /// Submits a task and keeps the handle.
    Submit(usize, Plan),
    /// Waits for the newest task whose handle the thread has kept.
    JoinLast(How),
    JoinNamed(usize, How),
    Promise(usize, How),
    All(usize, Vec<Plan>),
    Any(usize, Vec<Plan>),
    /// Submits all tasks to a new completion service, and takes their handles until no handle is left.
    Service(usize, Vec<Plan>),
    /// `Give` submits a task to the common service, and `Take` takes a handle from the service.
    Give(Plan),
    Take(How),
    /// Takes permits. `Release` gives the permits back; if there is no `Release`, the end of the task gives
    /// them back.
    Acquire(usize, usize, How),
    Release,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Plain,
    /// Uses a shared handle, if this kind of wait can use a shared handle.
    Shared,
    Timed,
}

/// One act of a thread outside the pools.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Yield,
    /// Checks that the library has reported each wait that no event inside the pools can end.
    Settle,
    Submit(usize, usize),
    /// Runs a named task on a thread outside the pools.
    Run(usize),
    Complete(usize),
    Cancel(usize),
    Threads(usize, usize),
    Give(Plan),
    Take,
    Acquire(usize),
    Release,
    Shutdown(usize),
    ShutdownNow(usize),
}

/// The time limit of timed waits, in the model's time.
pub(super) const A_WHILE: Duration = Duration::from_millis(10);

impl Scenario {
    /// Draws a random scenario; the same seed gives the same scenario.
    pub(super) fn draw(seed: u64) -> Self {
        let dice = &mut Dice(seed);
        let mut pools: Vec<_> = (0..=dice.up_to(2)).map(|_| PoolPlan::draw(dice)).collect();
        // The threads outside the pools give tasks to the common service, which submits them to the first
        // pool. If these threads waited for room in that pool, a worker could wait for an act of one of these
        // threads. The library does not know the acts of threads outside the pools, so submitters to the
        // first pool must not wait.
        if pools[0].full == WhenFull::Block {
            pools[0].full = WhenFull::Abort;
        }
        let mut scenario = Self {
            pools,
            named: Vec::new(),
            promises: dice.up_to(1),
            semaphores: (0..dice.up_to(1)).map(|_| 1 + dice.up_to(2)).collect(),
            outside: Vec::new(),
        };
        let named = 1 + dice.up_to(2);
        scenario.named = (0..named).map(|_| scenario.draw_plan(dice, 2, named)).collect();
        scenario.outside = (0..=dice.up_to(1))
            .map(|thread| {
                let mut acts: Vec<_> = (0..=dice.up_to(4)).map(|_| scenario.draw_act(dice)).collect();
                if thread == 0 {
                    acts.insert(0, Act::Submit(0, 0));
                }
                acts
            })
            .collect();
        scenario
    }

    fn draw_plan(&self, dice: &mut Dice, depth: usize, named: usize) -> Plan {
        let steps = if depth == 0 { dice.up_to(1) } else { 1 + dice.up_to(2) };
        (0..steps).map(|_| self.draw_step(dice, depth, named)).collect()
    }

    fn draw_step(&self, dice: &mut Dice, depth: usize, named: usize) -> Step {
        let how = *dice.one_of(&[How::Plain, How::Plain, How::Plain, How::Shared, How::Shared, How::Timed]);
        let pool = dice.up_to(self.pools.len() - 1);
        let kind = dice.up_to(if depth == 0 { 7 } else { 16 });
        let mut below = || self.draw_plan(dice, depth - 1, named);
        match kind {
            0 => Step::Yield,
            1 | 2 => Step::JoinNamed(dice.up_to(named - 1), how),
            3 if self.promises > 0 => Step::Promise(dice.up_to(self.promises - 1), how),
            4..=6 if !self.semaphores.is_empty() => {
                let semaphore = dice.up_to(self.semaphores.len() - 1);
                Step::Acquire(semaphore, 1 + dice.up_to(self.semaphores[semaphore] - 1), how)
            }
            3..=6 => Step::JoinLast(how),
            7 => Step::Take(how),
            8 | 9 => Step::Join(pool, below(), how),
            10 | 11 => Step::Submit(pool, below()),
            12 => Step::All(pool, vec![below(), below()]),
            13 => Step::Any(pool, vec![below(), below()]),
            14 => Step::Service(pool, vec![below(), below()]),
            15 => Step::Give(below()),
            _ => Step::Release,
        }
    }

    fn draw_act(&self, dice: &mut Dice) -> Act {
        let pool = dice.up_to(self.pools.len() - 1);
        let named = dice.up_to(self.named.len() - 1);
        match dice.up_to(19) {
            0..=5 => Act::Submit(named, pool),
            6 => Act::Run(named),
            7 | 8 if self.promises > 0 => Act::Complete(dice.up_to(self.promises - 1)),
            9 => Act::Cancel(named),
            10 | 11 => Act::Threads(pool, 1 + dice.up_to(2)),
            12 => Act::Give(self.draw_plan(dice, 1, self.named.len())),
            13 => Act::Take,
            14 if !self.semaphores.is_empty() => Act::Acquire(dice.up_to(self.semaphores.len() - 1)),
            15 => Act::Release,
            16 if dice.in_one_of(2) => Act::Shutdown(pool),
            16 => Act::ShutdownNow(pool),
            7 | 17 => Act::Yield,
            _ => Act::Settle,
        }
    }
}

impl PoolPlan {
    fn draw(dice: &mut Dice) -> Self {
        let bound = dice.in_one_of(2).then(|| 1 + dice.up_to(1));
        let core = 1 + dice.up_to(1);
        let full = *dice.one_of(&[WhenFull::Abort, WhenFull::Block, WhenFull::Block, WhenFull::CallerRuns]);
        Self {
            core,
            maximum: core + if bound.is_some() { dice.up_to(1) } else { 0 },
            bound,
            full,
            core_timeout: dice.in_one_of(4),
            spares: usize::from(dice.in_one_of(4)),
        }
    }
}
