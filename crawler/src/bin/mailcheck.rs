//! The mail check: many accounts asked at once, by threads that live as long as one call.
//!
//! `check_mail` makes a pool of its own and returns when the pool and its threads are gone. All accounts have
//! one deadline, and each gets exactly one answer, in the order of the file: the number of new messages,
//! none, or why it failed. An account that is late has failed, at a step that has a name. With `--listing` it
//! works like a well-known listing in Java: it takes silence for "no new mail", and its threads outlive the
//! call.
//!
//! ```sh
//! cargo run --bin mailcheck -- --demo             # eight servers of its own, some of them bad
//! cargo run --bin mailcheck -- --demo --within 4s # one of them only needs more time
//! cargo run --bin mailcheck -- --demo --listing
//! cargo run --features crawler/tls --bin mailcheck -- --hosts hosts.toml --within 5s
//! ```
//!
//! The book's chapter: An executor for one call.

use anyhow::Context;
use clap::Parser;
use command_line::TROUBLE;
use crawler::mail::report::{self, Checked, Report};
use crawler::mail::{Account, Answer, Progress, Threads, accounts, ask, demo::Demo, listing, program};
use executor::{CancelToken, Cancelled, JoinError, TaskHandle, ThreadPoolExecutor};
use executor::{RejectedSubmission, masked, prelude::*};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Says which mail accounts have new mail.
///
/// Exit status: 0 there is new mail; 1 there is none; 3 none was seen, but some account has failed; 2 the
/// command line or the hosts file is wrong; 130 a signal came.
#[derive(Parser)]
#[command(version, after_help = accounts::EXAMPLE)]
struct Args {
    /// File of accounts, in TOML: see below
    #[arg(long, value_name = "FILE", required_unless_present = "demo")]
    hosts: Option<PathBuf>,

    /// Ask eight built-in servers instead, some of them bad
    #[arg(long, conflicts_with = "hosts")]
    demo: bool,

    /// Time in which all accounts must answer (with --demo: 2s)
    #[arg(long, value_name = "TIME", default_value = "10s", default_value_if("demo", "true", "2s"), value_parser = command_line::duration)]
    within: Duration,

    /// Accounts that are asked at once: all of them, but not more than 100, if this is not given
    #[arg(long, value_name = "N", conflicts_with = "listing")]
    threads: Option<NonZeroUsize>,

    /// Check as the well-known listing does
    #[arg(long)]
    listing: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    command_line::ended("mailcheck", TROUBLE, run(&Args::parse()))
}

fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let stop = command_line::stopped_by_signals("mailcheck", "calling off what has not been answered")?;
    let demo = if args.demo { Some(Demo::eight().context("the demo cannot start")?) } else { None };
    let accounts = match (&demo, &args.hosts) {
        (Some(demo), _) => demo.accounts().to_vec(),
        (None, hosts) => program::read(hosts.as_ref().expect("one of the two is required"))?,
    };
    let (begin, threads) = (Instant::now(), Arc::new(Threads::default()));
    if args.listing {
        let has_new_mail = listing::check_mail(&accounts, args.within, &threads);
        let (took, left) = (begin.elapsed(), threads.alive());
        command_line::print(report::of_listing(has_new_mail, took, left, args.json))?;
        return Ok(ExitCode::from(u8::from(!has_new_mail)));
    }
    let most = args.threads.map_or(accounts.len().clamp(1, 100), NonZeroUsize::get);
    let accounts = check_mail(&accounts, args.within, most, &threads, &stop, ask)?;
    let (took, threads_left) = (begin.elapsed(), threads.alive());
    let report = Report { accounts, took, threads_left, interrupted: stop.is_cancelled() };
    command_line::print(report.text(args.json))?;
    Ok(ExitCode::from(report.exit_status()))
}

// ANCHOR: check_mail
/// Asks all accounts, `most` at once, and gives an answer for each, in their order. When it returns, its
/// threads are gone.
///
/// Waits for `within` at most, or until `stop` is cancelled. It also waits for a task that ignores its token.
pub(crate) fn check_mail(
    accounts: &[Arc<Account>],
    within: Duration,
    most: usize,
    threads: &Arc<Threads>,
    stop: &CancelToken,
    ask: impl Fn(&Account, &Progress, &CancelToken) -> Result<Answer, Cancelled> + Send + Sync + 'static,
) -> anyhow::Result<Vec<Checked>> {
    let (begin, ask) = (Instant::now(), Arc::new(ask));
    // One deadline for all. It drops the tasks that wait, closes the sockets of those that run, and ends the
    // pool.
    let call = stop.with_timeout(within);
    let pool = ThreadPoolExecutor::builder()
        .threads(most)
        .thread_factory(Arc::clone(threads))
        .cancel_token(&call)
        .build()?;
    let submit = |account: &Arc<Account>| {
        let (ask, account, progress) = (Arc::clone(&ask), Arc::clone(account), Progress::default());
        let shown = progress.clone();
        let task = move |token: &CancelToken| {
            token.check()?; // a thread may take the task while the deadline passes
            Ok((ask(&account, &progress, token)?, begin.elapsed()))
        };
        (submitted(pool.submit_cancellable(task)), shown)
    };
    let asked: Vec<_> = accounts.iter().map(submit).collect();
    pool.shutdown();

    // The token ends the tasks. A caller that is cancelled itself still waits here for their threads.
    let joined: Vec<_> = masked(|| {
        while !pool.await_termination(Duration::from_hours(1)) {}
        threads.join();
        asked.into_iter().map(|(handle, progress)| (handle.join(), progress)).collect()
    });
    let answer = |(account, (joined, progress)): (&Arc<Account>, (Joined, Progress))| {
        let why = match joined {
            Ok((answer, took)) => return Checked::new(account, answer, took),
            Err(JoinError::Panicked(panic)) => format!("the check has panicked: {}", panic.message()),
            Err(_) => report::called_off(&call, within, &progress),
        };
        Checked::new(account, Answer::Failed(account.clean(&why)), begin.elapsed())
    };
    Ok(accounts.iter().zip(joined).map(answer).collect())
}

/// An answer and its time, or what became of the task.
type Joined = Result<(Answer, Duration), JoinError<(Answer, Duration)>>;

/// The handle of a task. If the pool has refused the task, the handle says that it was cancelled.
fn submitted<T>(submitted: Result<TaskHandle<T>, RejectedSubmission<T>>) -> TaskHandle<T> {
    submitted.unwrap_or_else(|refused| {
        drop(refused.task);
        refused.handle
    })
}
// ANCHOR_END: check_mail
