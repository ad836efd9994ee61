//! The mail check: it asks the servers of many accounts at once, with threads that live only as long as one
//! call.
//!
//! All accounts have one deadline, and each account gets exactly one answer. A late account counts as failed,
//! and its answer names the step that the check of the account had reached. With `--listing`, the check works
//! like a well-known listing in Java: silence counts as "no new mail", and the threads of the check outlive
//! the call.

use anyhow::Context;
use clap::Parser;
use command_line::TROUBLE;
use crawler::mail::report::{self, Checked, Report};
use crawler::mail::{Account, Answer, Progress, Threads, accounts, ask, demo::Demo, listing};
use executor::{CancelToken, Cancelled, JoinError, ThreadPoolExecutor, masked, prelude::*};
use std::env;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Says which mail accounts have new mail.
///
/// Exit status: 0 there is new mail; 1 there is no new mail; 3 no new mail was seen, but an account has
/// failed; 2 the command line or the hosts file is wrong; 130 a signal came, 143 a second SIGTERM.
#[derive(Parser)]
#[command(version, after_help = accounts::EXAMPLE)]
struct Args {
    /// File of accounts, in TOML: see below
    #[arg(long, value_name = "FILE", required_unless_present = "demo")]
    hosts: Option<PathBuf>,

    /// Ask eight built-in servers instead; some of these servers are faulty
    #[arg(long, conflicts_with = "hosts")]
    demo: bool,

    /// Time in which all accounts must answer (with --demo: 2s)
    #[arg(long, value_name = "TIME", default_value = "10s", default_value_if("demo", "true", "2s"), value_parser = command_line::duration)]
    within: Duration,

    /// The number of accounts that are asked at once [default: all accounts, but at most 100]
    #[arg(long, value_name = "N", conflicts_with = "listing")]
    threads: Option<NonZeroUsize>,

    /// Check in the faulty way of a well-known Java listing
    #[arg(long)]
    listing: bool,

    /// Print one JSON object
    #[arg(long, conflicts_with = "listing")]
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
        (None, hosts) => {
            let hosts = hosts.as_ref().expect("one of the two is required");
            accounts::read(hosts, |name| env::var_os(name)).with_context(|| hosts.display().to_string())?
        }
    };
    if args.listing {
        return listing::run(&accounts, args.within);
    }
    let (begin, threads) = (Instant::now(), Arc::new(Threads::default()));
    let most = args.threads.map_or(accounts.len().clamp(1, 100), NonZeroUsize::get);
    let accounts = check_mail(&accounts, args.within, most, &threads, &stop, ask)?;
    let (took, threads_left, interrupted) = (begin.elapsed(), threads.alive(), stop.is_cancelled());
    let report = Report { accounts, took, threads_left, interrupted };
    command_line::print(report.text(args.json))?;
    Ok(ExitCode::from(report.exit_status()))
}

// ANCHOR: check_mail
/// Asks the servers of all accounts, at most `most` servers at the same time, and returns the answers in the
/// order of the accounts. When this function returns, its threads have ended.
///
/// Waits for at most `within`, or until `stop` is cancelled. This function also waits for tasks that ignore
/// their tokens.
pub(crate) fn check_mail(
    accounts: &[Arc<Account>],
    within: Duration,
    most: usize,
    threads: &Arc<Threads>,
    stop: &CancelToken,
    ask: impl Fn(&Account, &Progress, &CancelToken) -> Result<Answer, Cancelled> + Send + Sync + 'static,
) -> anyhow::Result<Vec<Checked>> {
    let (begin, ask) = (Instant::now(), Arc::new(ask));
    // One deadline applies to all accounts: at the deadline, the waiting tasks are dropped, the sockets of
    // running tasks are closed, and the pool ends.
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
        // If the pool refuses a task, the task's handle reports that the task was cancelled.
        (pool.submit_cancellable(task).unwrap_or_else(|refused| refused.handle), shown)
    };
    let asked: Vec<_> = accounts.iter().map(submit).collect();
    pool.shutdown();

    // The cancelled token ends the pool's tasks. Even a cancelled caller waits here for the threads of the
    // tasks.
    let joined = masked(|| {
        while !pool.await_termination(Duration::from_hours(1)) {}
        threads.join();
        asked.into_iter().map(|(handle, progress)| (handle.join(), progress)).collect::<Vec<_>>()
    });
    let answers = accounts.iter().zip(joined).map(|(account, (joined, progress))| {
        let why = match joined {
            Ok((answer, took)) => return Checked::new(account, answer, took),
            Err(JoinError::Panicked(panic)) => format!("the check has panicked: {}", panic.message()),
            Err(_) => report::called_off(&call, within, &progress),
        };
        Checked::new(account, Answer::Failed(account.clean(&why)), begin.elapsed())
    });
    Ok(answers.collect())
}
// ANCHOR_END: check_mail
