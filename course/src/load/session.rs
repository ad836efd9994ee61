//! One run, whose clients are tasks of two pools; both pools end gracefully.
//!
//! The polite clients end by themselves when the schedule has no more requests. So their pool is shut down
//! right after the start; this lets the clients finish. The rude clients would never end by themselves, so
//! the run cancels their token at the end. A signal cancels a token whose children are the tokens of both
//! pools.

use super::args::{Plan, Step};
use super::client::{self, Manner};
use super::progress::Progress;
use super::rude::{Fate, Rude, Rudeness};
use super::schedule::Schedule;
use super::tally::{Live, Tally};
use super::target::Target;
use anyhow::{anyhow, ensure};
use executor::{CancelToken, ExecutorExt, ExecutorService, TaskHandle, ThreadPoolExecutor};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(200);

/// What a run has measured.
pub(crate) struct Measured {
    /// The time from the start to the planned end, or to the last answer if it came later. The time is
    /// shorter if there were no more requests before the planned end.
    pub(crate) elapsed: Duration,
    pub(crate) tally: Tally,
    pub(crate) never_sent: u64,
    pub(crate) rude: Vec<(Rudeness, usize, Fate)>,
    pub(crate) interrupted: bool,
}

/// Carries out one step of the plan: one run.
///
/// # Blocking
/// Blocks until the planned end, and then until every request is answered or has failed. If `stop` is
/// cancelled, returns earlier.
pub(crate) fn measure(
    plan: &Plan,
    Step { connections, rate }: Step,
    target: &Target,
    stop: &CancelToken,
) -> anyhow::Result<Measured> {
    let rude_clients: usize = plan.rude.iter().map(|(_, count)| count).sum();
    let rude_pool = pool(rude_clients, "rude")?;
    let polite_pool = pool(connections, "polite")?;
    // This value is declared after the pools, so it is dropped before them: if something fails below, no
    // client keeps the pools waiting.
    let run = CancelOnDrop(stop.child());
    let rude_stop = run.0.child();

    let mut rude = Vec::new();
    for &(kind, count) in &plan.rude {
        let (drip, stop) = (plan.drip, &rude_stop);
        let client = || Rude { kind, target: target.clone(), drip, stop: stop.clone() };
        let clients = (0..count).map(|_| start(&rude_pool, client(), |client| client.run()));
        rude.push((kind, count, clients.collect::<anyhow::Result<Vec<_>>>()?));
    }

    let begin = Instant::now();
    let manner = Arc::new(Manner {
        target: target.clone(),
        keep_alive: plan.keep_alive,
        pipeline: plan.pipeline,
        timeout: plan.timeout,
        schedule: Schedule::new(begin, plan.duration, plan.requests, rate),
        stop: run.0.clone(),
        live: Live::default(),
    });
    let polite =
        (0..connections).map(|_| start(&polite_pool, Arc::clone(&manner), |manner| client::run(&manner)));
    let polite = polite.collect::<anyhow::Result<Vec<_>>>()?;

    let mut progress = Progress::begin(plan);
    polite_pool.shutdown();
    while !polite_pool.await_termination(LOOK) {
        progress.show(begin.elapsed(), manner.live.counts());
    }
    drop(progress);
    let (ended, never_sent) = (begin.elapsed(), manner.schedule.never_sent(Instant::now()));
    let interrupted = stop.is_cancelled();
    rude_stop.cancel();
    rude_pool.close();

    let mut tally = Tally::new();
    for client in polite {
        tally.add(&finished(client)?);
    }
    let rude = rude.into_iter().map(|(kind, count, clients)| Ok((kind, count, sum(clients)?)));
    let rude = rude.collect::<anyhow::Result<_>>()?;
    let last_answer = tally.last_answer.map_or(Duration::ZERO, |at| at.duration_since(begin));
    let elapsed = ended.min(plan.duration).max(last_answer);
    Ok(Measured { elapsed, tally, never_sent, rude, interrupted })
}

struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Returns a pool whose threads have all started: a client in the pool's queue would count as a connection
/// without having one.
fn pool(threads: usize, name: &str) -> anyhow::Result<ThreadPoolExecutor> {
    let pool = ThreadPoolExecutor::builder().threads(threads.max(1)).name(name).build()?;
    let started = pool.prestart_all_core_threads();
    ensure!(
        started >= threads,
        "of the {threads} threads that the {name} clients need, one for each, the system allows {started}; ask for fewer"
    );
    Ok(pool)
}

fn start<C: Send + 'static, T: Send + 'static>(
    pool: &ThreadPoolExecutor,
    client: C,
    run: impl FnOnce(C) -> T + Send + 'static,
) -> anyhow::Result<TaskHandle<T>> {
    pool.submit(move || run(client)).map_err(|refused| anyhow!("cannot start a client: {}", refused.reason))
}

fn finished<T: Send + 'static>(client: TaskHandle<T>) -> anyhow::Result<T> {
    client.join().map_err(|error| anyhow!("a client failed, so the numbers are wrong: {error}"))
}

fn sum(clients: Vec<TaskHandle<Fate>>) -> anyhow::Result<Fate> {
    let mut all = Fate::default();
    for client in clients {
        all.add(&finished(client)?);
    }
    Ok(all)
}
