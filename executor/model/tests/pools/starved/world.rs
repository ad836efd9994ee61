//! Plays a scenario, and records its events when they happen.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex as Plain, MutexGuard, OnceLock, PoisonError};

use executor_model::panics::{PanicHandler, PanicReport};
use executor_model::{
    Abort, Block, CallerRuns, CutShort, ExecutorCompletionService, FifoQueue, FutureTask, InvokeFailure,
    JoinError, OnStarvation, Permit, Promise, RejectReason, Semaphore, SharedHandle, SharedJoinError,
    Starvation, Task, TaskHandle, TaskId, ThreadFactory, ThreadPoolExecutor, Worker, prelude::*,
};
use shuttle::thread::{self, JoinHandle};

use super::books::{Books, PoolBook, ServiceBook, What};
use super::scenario::{A_WHILE, Act, How, Plan, PoolPlan, Scenario, Step, WhenFull};

/// The service that all tasks share.
const SHARED: usize = 0;

/// Plays the scenario once, under the current schedule, and panics if anything is wrong.
pub(super) fn play(scenario: &Scenario) {
    let world = World::begin(scenario.clone());
    let scripts = scenario
        .outside
        .iter()
        .cloned()
        .map(|script| world.thread_outside(move |world| world.go_through(&script)));
    let scripts: Vec<_> = scripts.collect();
    let mut helpers: Vec<_> = scripts.into_iter().flat_map(|script| script.join().unwrap()).collect();
    for promise in 0..scenario.promises {
        world.complete(promise);
    }
    for named in 0..scenario.named.len() {
        helpers.extend(world.submit_named(named, named % scenario.pools.len()));
    }
    world.settle();
    world.end(helpers);
}

/// The records of the current scenario, for the reader of a failure.
static BOOKS: Plain<Option<Arc<Books>>> = Plain::new(None);

pub(super) fn where_it_stands() -> String {
    plain(&BOOKS).as_ref().map_or_else(String::new, |books| books.show())
}

struct World {
    scenario: Scenario,
    books: Arc<Books>,
    pools: Vec<Arc<ThreadPoolExecutor>>,
    named: OnceLock<Vec<Named>>,
    promises: Vec<(Promise<()>, Known)>,
    semaphores: Vec<Semaphore>,
    service: ExecutorCompletionService<Arc<ThreadPoolExecutor>, ()>,
    numbers: Plain<HashMap<TaskId, usize>>,
}

/// A task or promise that all threads can join.
struct Known {
    number: usize,
    handle: SharedHandle<()>,
}

struct Named {
    known: Known,
    /// The task, until a thread runs or submits it.
    task: Plain<Option<Task>>,
}

/// Each body contains this value, which records the body's drop.
struct Gone(Arc<World>, usize);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.books.is_gone(self.1);
    }
}

fn plain<T>(mutex: &Plain<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Helper = JoinHandle<()>;

// ----- the beginning and the end -----

impl World {
    fn begin(scenario: Scenario) -> Arc<Self> {
        let books = Arc::new(Books::default());
        *plain(&BOOKS) = Some(Arc::clone(&books));
        let main = books.thread_comes(None);
        books.thread_begins(main);
        books.write(|books| {
            books.pools =
                scenario.pools.iter().enumerate().map(|(n, pool)| book_of(&scenario, n, pool)).collect();
            books.semaphores.clone_from(&scenario.semaphores);
            books.services.push(ServiceBook::default());
        });
        let pools: Vec<_> =
            (0..scenario.pools.len()).map(|pool| build(&scenario.pools[pool], pool, &books)).collect();
        let promises = (0..scenario.promises).map(|_| {
            let (promise, handle) = Promise::new();
            (promise, Known { number: books.new_task(), handle: handle.shared() })
        });
        let world = Arc::new(Self {
            promises: promises.collect(),
            semaphores: scenario.semaphores.iter().map(|&permits| Semaphore::new(permits)).collect(),
            service: ExecutorCompletionService::new(Arc::clone(&pools[0])),
            named: OnceLock::new(),
            numbers: Plain::default(),
            books: Arc::clone(&books),
            pools,
            scenario,
        });
        let named = world.scenario.named.iter().map(|plan| {
            let (number, FutureTask { task, handle }) = world.new_task(plan);
            Named { known: Known { number, handle: handle.shared() }, task: Plain::new(Some(task)) }
        });
        world.named.set(named.collect()).unwrap_or_else(|_| unreachable!("it is set once"));
        world
    }

    /// Ends the scenario; at this point all awaited events have happened. If a wait does not end now, the
    /// library has failed to report the wait. In that case this function does not return either, and shuttle
    /// reports a deadlock.
    fn end(self: Arc<Self>, helpers: Vec<Helper>) {
        for named in self.named() {
            let joined = named.known.handle.join();
            assert!(matches!(joined, Ok(_) | Err(SharedJoinError::Cancelled(_))), "{joined:?}");
        }
        for helper in helpers {
            helper.join().unwrap();
        }
        while self.take(&self.service, SHARED, How::Plain) {}
        for (number, pool) in self.pools.iter().enumerate() {
            self.books.write(|books| books.pools[number].is_shut_down = true);
            pool.close();
            let stats = pool.stats();
            assert_eq!((stats.queued, stats.active), (0, 0), "{stats}");
        }
        let faults = self.books.faults();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(self.books.all_is_over(), "a task or a permit is left over");
    }

    fn named(&self) -> &[Named] {
        self.named.get().expect("set before any thread begins")
    }

    fn thread_outside<R: Send + 'static>(
        self: &Arc<Self>,
        run: impl FnOnce(&Arc<Self>) -> R + Send + 'static,
    ) -> JoinHandle<R> {
        let (world, number) = (Arc::clone(self), self.books.thread_comes(None));
        thread::spawn(move || {
            world.books.thread_begins(number);
            let result = run(&world);
            world.books.thread_ends(number);
            result
        })
    }
}

fn book_of(scenario: &Scenario, number: usize, plan: &PoolPlan) -> PoolBook {
    let sizes = scenario.outside.iter().flatten().filter_map(|act| match act {
        Act::Threads(pool, threads) if *pool == number => Some(*threads),
        _ => None,
    });
    let sizes: Vec<_> = sizes.collect();
    let shrinks = sizes.len() > 1 || sizes.iter().any(|&size| size < plan.maximum) || plan.spares > 0;
    PoolBook { most: plan.maximum, bound: plan.bound, shrinks, is_shut_down: false, is_stopped: false }
}

fn build(plan: &PoolPlan, number: usize, books: &Arc<Books>) -> Arc<ThreadPoolExecutor> {
    let mut builder = ThreadPoolExecutor::builder()
        .name(format!("p{number}"))
        .core_threads(plan.core)
        .maximum_threads(plan.maximum)
        .core_timeout(plan.core_timeout)
        .keep_alive(A_WHILE)
        .panic_handler(Quiet)
        .thread_factory(Threads { pool: number, books: Arc::clone(books) });
    if let Some(bound) = plan.bound {
        builder = builder.queue(FifoQueue::bounded(bound));
    }
    if plan.spares > 0 {
        builder = builder.on_starvation(OnStarvation::Spare { at_most: plan.spares });
    }
    let builder = match plan.full {
        WhenFull::Abort => builder.rejection_handler(Abort),
        WhenFull::Block => builder.rejection_handler(Block::new()),
        WhenFull::CallerRuns => builder.rejection_handler(CallerRuns),
    };
    Arc::new(builder.build().unwrap())
}

struct Threads {
    pool: usize,
    books: Arc<Books>,
}

impl ThreadFactory for Threads {
    fn start(&self, worker: Worker) -> io::Result<()> {
        let (number, books) = (self.books.thread_comes(Some(self.pool)), Arc::clone(&self.books));
        thread::spawn(move || {
            books.thread_begins(number);
            worker.run();
            books.thread_ends(number);
        });
        Ok(())
    }
}

/// A handler that ignores the reports that a submission or a race has dropped unread.
struct Quiet;

impl PanicHandler for Quiet {
    fn panicked(&self, _: &PanicReport<'_>) {}
}

// ----- tasks -----

impl World {
    fn new_task(self: &Arc<Self>, plan: &Plan) -> (usize, FutureTask<()>) {
        self.new_task_with(plan, || ())
    }

    fn new_task_with<T: Send + 'static>(
        self: &Arc<Self>,
        plan: &Plan,
        result: fn() -> T,
    ) -> (usize, FutureTask<T>) {
        let number = self.books.new_task();
        let (gone, plan) = (Gone(Arc::clone(self), number), plan.clone());
        let future = FutureTask::new(move || {
            gone.0.run(gone.1, &plan);
            result()
        });
        plain(&self.numbers).insert(future.task.id(), number);
        (number, future)
    }

    fn number_of(&self, id: TaskId) -> usize {
        plain(&self.numbers)[&id]
    }

    fn run(self: &Arc<Self>, task: usize, plan: &Plan) {
        self.books.begins(task);
        let mut stock = Stock::default();
        for step in plan {
            self.step(task, step, &mut stock);
        }
        self.release(&mut stock.permits);
        self.books.ends(task);
    }

    fn step<'a>(self: &'a Arc<Self>, task: usize, step: &Step, stock: &mut Stock<'a>) {
        match step {
            Step::Yield => thread::yield_now(),
            Step::Join(pool, plan, how) => {
                if let Some((number, handle)) = self.submit(*pool, plan) {
                    self.join(task, number, handle, *how);
                }
            }
            Step::Submit(pool, plan) => stock.handles.extend(self.submit(*pool, plan)),
            Step::JoinLast(how) => {
                if let Some((number, handle)) = stock.handles.pop() {
                    self.join(task, number, handle, *how);
                }
            }
            Step::JoinNamed(named, how) => self.join_known(&self.named()[*named].known, *how),
            Step::Promise(promise, how) => self.join_known(&self.promises[*promise].1, *how),
            Step::All(pool, plans) => self.invoke_all(*pool, plans),
            Step::Any(pool, plans) => self.invoke_any(*pool, plans),
            Step::Service(pool, plans) => self.use_service(*pool, plans),
            Step::Give(plan) => self.give(plan),
            Step::Take(how) => _ = self.take(&self.service, SHARED, *how),
            Step::Acquire(kind, permits, how) => self.acquire(*kind, *permits, *how, &mut stock.permits),
            Step::Release => self.release(&mut stock.permits),
        }
    }

    fn submit(self: &Arc<Self>, pool: usize, plan: &Plan) -> Option<(usize, TaskHandle<()>)> {
        let (number, future) = self.new_task(plan);
        let submitted = self.enter(number, pool, || self.pools[pool].submit(future), |error| &error.reason);
        submitted.ok().map(|handle| (number, handle))
    }

    /// Puts a task into a pool; a refused task is dropped.
    fn enter<R, E>(
        &self,
        task: usize,
        pool: usize,
        submit: impl FnOnce() -> Result<R, E>,
        reason: impl Fn(&E) -> &RejectReason,
    ) -> Result<R, E> {
        self.books.goes_to(task, pool);
        let result = if self.scenario.pools[pool].full == WhenFull::Block {
            let starved = |result: &Result<R, E>| match result.as_ref().map_err(&reason) {
                Err(RejectReason::Starved(report)) => read(report),
                _ => false,
            };
            self.books.wait(What::Room(pool, task), submit, starved)
        } else {
            submit()
        };
        match &result {
            Ok(_) => self.books.was_accepted(task),
            Err(_) => self.books.came_back(task),
        }
        result
    }

    fn join(&self, task: usize, number: usize, handle: TaskHandle<()>, how: How) {
        match how {
            How::Timed => {
                let _ = self.books.wait(What::Open, || handle.join_timeout(A_WHILE), |_| false);
            }
            How::Shared => self.join_known(&Known { number, handle: handle.shared() }, how),
            How::Plain => {
                let starved = |joined: &Result<(), JoinError<()>>| match joined {
                    Err(JoinError::Starved(_, report)) => read(report),
                    _ => false,
                };
                let joined = self.books.wait(What::Task(number), || handle.join(), starved);
                // Every second task cancels the awaited task; the remaining tasks let the awaited task run in
                // the end.
                if let (0, Err(JoinError::Starved(handle, _))) = (task % 2, joined) {
                    handle.cancel();
                }
            }
        }
    }

    fn join_known(&self, known: &Known, how: How) {
        let handle = known.handle.clone();
        if how == How::Timed {
            let _ = self.books.wait(What::Open, || handle.join_timeout(A_WHILE), |_| false);
            return;
        }
        let starved = |joined: &Result<Arc<()>, SharedJoinError>| match joined {
            Err(SharedJoinError::Starved(report)) => read(report),
            _ => false,
        };
        let _ = self.books.wait(What::Task(known.number), || handle.join(), starved);
    }

    fn several<T: Send + 'static>(
        self: &Arc<Self>,
        pool: usize,
        plans: &[Plan],
        result: fn() -> T,
    ) -> (Vec<usize>, Vec<FutureTask<T>>) {
        let tasks = plans.iter().map(|plan| self.new_task_with(plan, result));
        let (numbers, tasks): (Vec<_>, Vec<_>) = tasks.unzip();
        for &number in &numbers {
            self.books.goes_to(number, pool);
        }
        (numbers, tasks)
    }

    fn invoke_all(self: &Arc<Self>, pool: usize, plans: &[Plan]) {
        let (numbers, tasks) = self.several(pool, plans, || ());
        let call = || self.pools[pool].invoke_all(tasks);
        let result = self.books.wait(What::All(numbers, pool), call, |result| match result {
            Err(error) => matches!(&error.reason, InvokeFailure::Starved(report) if read(report)),
            Ok(_) => false,
        });
        drop(result);
    }

    fn invoke_any(self: &Arc<Self>, pool: usize, plans: &[Plan]) {
        let (numbers, tasks) = self.several(pool, plans, || Ok::<_, ()>(()));
        let race = self.books.write(|books| {
            books.services.push(ServiceBook { tasks: numbers, takers: 1, race_in: Some(pool) });
            books.services.len() - 1
        });
        let result = self.books.wait(
            What::First(race),
            || self.pools[pool].invoke_any(tasks),
            |result| match result {
                Err(error) => matches!(&error.reason, InvokeFailure::Starved(report) if read(report)),
                Ok(()) => false,
            },
        );
        drop(result);
    }

    fn use_service(self: &Arc<Self>, pool: usize, plans: &[Plan]) {
        let service = ExecutorCompletionService::new(Arc::clone(&self.pools[pool]));
        let number = self.books.write(|books| {
            books.services.push(ServiceBook::default());
            books.services.len() - 1
        });
        for plan in plans {
            self.give_to(&service, number, pool, plan);
        }
        while self.take(&service, number, How::Plain) {}
    }

    fn give(self: &Arc<Self>, plan: &Plan) {
        self.give_to(&self.service, SHARED, 0, plan);
    }

    fn give_to(
        self: &Arc<Self>,
        service: &ExecutorCompletionService<Arc<ThreadPoolExecutor>, ()>,
        number: usize,
        pool: usize,
        plan: &Plan,
    ) {
        let (task, future) = self.new_task(plan);
        self.books.write(|books| books.services[number].tasks.push(task));
        if self.enter(task, pool, || service.submit(future), |error| &error.reason).is_err() {
            self.books.write(|books| books.services[number].tasks.retain(|&given| given != task));
        }
    }

    /// Takes a task out of a service, or returns false if there was no task.
    fn take(
        &self,
        service: &ExecutorCompletionService<Arc<ThreadPoolExecutor>, ()>,
        number: usize,
        how: How,
    ) -> bool {
        self.books.write(|books| books.services[number].takers += 1);
        let taken = if how == How::Timed {
            self.books.wait(What::Open, || service.take_timeout(A_WHILE).ok(), |_| false)
        } else {
            let starved =
                |taken: &Result<_, CutShort>| matches!(taken, Err(CutShort::Starved(report)) if read(report));
            self.books.wait(What::First(number), || service.take(), starved).ok()
        };
        let taken = taken.flatten();
        let task = taken.as_ref().map(|handle: &TaskHandle<()>| self.number_of(handle.id()));
        self.books.write(|books| {
            let service = &mut books.services[number];
            service.takers -= 1;
            service.tasks.retain(|&given| Some(given) != task);
        });
        taken.is_some()
    }

    fn acquire<'a>(&'a self, kind: usize, permits: usize, how: How, held: &mut Held<'a>) {
        let semaphore = &self.semaphores[kind];
        let permit = if how == How::Timed {
            let call = || semaphore.acquire_many_timeout(permits, A_WHILE).ok();
            self.books.wait(What::Open, call, |_| false)
        } else {
            let starved =
                |got: &Result<_, CutShort>| matches!(got, Err(CutShort::Starved(report)) if read(report));
            self.books.wait(What::Permits(kind, permits), || semaphore.acquire_many(permits), starved).ok()
        };
        if let Some(permit) = permit {
            self.books.has(kind, permits);
            held.push_back((kind, permits, permit));
        }
    }

    fn release(&self, held: &mut Held<'_>) {
        for (kind, permits, permit) in held.drain(..) {
            self.books.has_no_more(kind, permits);
            drop(permit);
        }
    }
}

/// The handles and permits that a running task has.
#[derive(Default)]
struct Stock<'a> {
    handles: Vec<(usize, TaskHandle<()>)>,
    permits: Held<'a>,
}

type Held<'a> = VecDeque<(usize, usize, Permit<'a>)>;

/// Reads a report, checks that the report is consistent, and returns true in every case.
fn read(report: &Starvation) -> bool {
    assert!(report.closes_at() < report.chain().len(), "{report}");
    true
}

// ----- the threads outside -----

impl World {
    /// Performs the acts of the thread. Some acts start a separate thread; the function returns the separate
    /// threads that have not ended yet.
    fn go_through(self: &Arc<Self>, script: &[Act]) -> Vec<Helper> {
        let (mut helpers, mut permits) = (Vec::new(), Held::new());
        for act in script {
            self.act(act, &mut helpers, &mut permits);
        }
        self.release(&mut permits);
        helpers
    }

    fn act<'a>(self: &'a Arc<Self>, act: &Act, helpers: &mut Vec<Helper>, permits: &mut Held<'a>) {
        match act {
            Act::Yield => thread::yield_now(),
            Act::Settle => self.settle(),
            Act::Submit(named, pool) => helpers.extend(self.submit_named(*named, *pool)),
            Act::Run(named) => helpers.extend(self.take_named(*named).map(|task| {
                // The task runs on a separate thread, because the task may wait for the next act of the
                // calling thread.
                self.thread_outside(move |_| drop(task.run()))
            })),
            Act::Complete(promise) => self.complete(*promise),
            Act::Cancel(named) => {
                let known = &self.named()[*named].known;
                known.handle.cancel();
                self.books.was_cancelled(known.number);
            }
            Act::Threads(pool, threads) => self.resize(*pool, *threads),
            Act::Give(plan) => {
                let plan = plan.clone();
                helpers.push(self.thread_outside(move |world| world.give(&plan)));
            }
            Act::Take => _ = self.take(&self.service, SHARED, How::Timed),
            Act::Acquire(kind) => self.acquire(*kind, 1, How::Timed, permits),
            Act::Release => self.release(permits),
            Act::Shutdown(pool) => {
                self.books.write(|books| books.pools[*pool].is_shut_down = true);
                self.pools[*pool].shutdown();
            }
            Act::ShutdownNow(pool) => {
                self.books.write(|books| books.pools[*pool].is_shut_down = true);
                let never_begun = self.pools[*pool].shutdown_now();
                for task in &never_begun {
                    self.books.came_back(self.number_of(task.id()));
                }
                self.books.was_stopped(*pool);
            }
        }
    }

    /// Waits until the records show that events inside the pools can end every wait.
    fn settle(&self) {
        for _ in 0..20_000 {
            match self.books.without_end() {
                None => return,
                Some(_) => thread::yield_now(),
            }
        }
        panic!("missed: {}", self.books.without_end().unwrap_or_default());
    }

    fn take_named(&self, named: usize) -> Option<Task> {
        plain(&self.named()[named].task).take()
    }

    /// Submits a named task. If the submitter may have to run the task, a separate thread submits the task.
    fn submit_named(self: &Arc<Self>, named: usize, pool: usize) -> Option<Helper> {
        let pool = if self.scenario.pools[pool].full == WhenFull::Block { 0 } else { pool };
        let task = self.take_named(named)?;
        let number = self.named()[named].known.number;
        let submit = move |world: &Arc<Self>| {
            drop(world.enter(number, pool, || world.pools[pool].execute(task), |error| &error.reason));
        };
        if self.scenario.pools[pool].full == WhenFull::Abort {
            submit(self);
            None
        } else {
            Some(self.thread_outside(submit))
        }
    }

    fn complete(&self, promise: usize) {
        let (promise, known) = &self.promises[promise];
        let _ = promise.complete(());
        self.books.is_gone(known.number);
    }

    fn resize(&self, pool: usize, threads: usize) {
        let grows = |books: &PoolBook| books.most < threads;
        self.books.write(|books| {
            let book = &mut books.pools[pool];
            book.most = if grows(book) { book.most } else { threads };
        });
        self.pools[pool].set_threads(threads).unwrap();
        self.books.write(|books| books.pools[pool].most = threads);
    }
}
