//! The travel portal: collects the quotes of the companies that answer in time.
//!
//! Each company is asked in a separate task. All tasks share one deadline, and each company gets exactly one
//! entry: a price, a failure or a time-out. The companies are ranked by price. With `--listing`, the program
//! makes a well-known mistake: it collects the entries in two nested loops, so there are too many entries.
//!
//! ```sh
//! cargo run --bin travel_portal
//! cargo run --bin travel_portal -- --deadline 200ms
//! ```
//!
//! The chapter "The travel portal" of the book explains this program.

use anyhow::{Context, anyhow};
use clap::Parser;
use executor::{CancelToken, FutureTask, TaskHandle, ThreadPoolExecutor, TryJoinError, prelude::*};
use renderer::demo::Demo;
use renderer::portal::{self, Answer, Company, Entry};
use renderer::{Activity, RenderArgs, Stage, Timeline, run};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Draws a page with the ranked quotes of many companies. PAGE is a list; each line has a name, a tab and
/// an address
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    render: RenderArgs,

    /// Time from the beginning within which the quotes must arrive
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = command_line::duration)]
    deadline: Duration,

    /// Collect the quotes by nested loops, which is a mistake
    #[arg(long)]
    listing: bool,
}

fn main() -> ExitCode {
    let Args { render, deadline, listing } = Args::parse();
    run("travel_portal", &render, |stage| draw(stage, &render, deadline, listing))
}

fn draw(stage: &Stage<'_>, args: &RenderArgs, deadline: Duration, listing: bool) -> anyhow::Result<ExitCode> {
    let end = Instant::now() + deadline;
    let list = stage.fetch(&stage.address(Demo::companies)?)?;
    let companies = portal::companies(&list)?;

    // Each company has its own thread, so a company that never answers does not delay the others.
    let threads = args.threads.map_or(companies.len().clamp(1, 100), Into::into);
    let pool = ThreadPoolExecutor::builder()
        .threads(threads)
        .name("quotes")
        .cancel_token(&CancelToken::current())
        .build()?;
    let asked = ask(&pool, &companies, end, stage.timeline())?;
    let entries = if listing { nested_loop(&companies, asked) } else { ranked(&companies, asked) };

    let mut rendering = stage.lay_out(&portal::page(&entries, &list.url, deadline))?;
    rendering.screen.add_to_report("quotes", portal::json(&entries));
    if !args.json {
        portal::print(&entries);
    }
    rendering.screen.show_text();
    stage.finish(rendering, Ok(()))
}

/// Asks all companies at once, and waits until `end`. Each returned handle is finished: its task has
/// returned an answer, has panicked, or was cancelled.
// ANCHOR: ask
pub(crate) fn ask(
    pool: &ThreadPoolExecutor,
    companies: &[Company],
    end: Instant,
    timeline: &Timeline,
) -> anyhow::Result<Vec<TaskHandle<Answer>>> {
    let task = |company: &Company| {
        let (company, timeline) = (company.clone(), timeline.clone());
        FutureTask::cancellable(move |token| {
            let _bar = timeline.bar(Activity::Fetching, &*company.name);
            portal::quote(&company, token)
        })
    };
    let left = end.saturating_duration_since(Instant::now());
    pool.invoke_all_timeout(companies.iter().map(task), left)
        .map_err(|error| anyhow!("{error}"))
        .context("asking the companies")
}
// ANCHOR_END: ask

// ANCHOR: ranked
/// Returns one entry for each company; entries with a price come first.
pub(crate) fn ranked(companies: &[Company], asked: Vec<TaskHandle<Answer>>) -> Vec<Entry> {
    let entry =
        |(company, handle): (&Company, _)| Entry { company: company.name.clone(), answer: answer(handle) };
    let mut entries: Vec<_> = companies.iter().zip(asked).map(entry).collect();
    entries.sort_by_key(|entry| entry.answer.rank()); // a stable sort: equal entries stay in the order of the list
    entries
}

fn answer(asked: TaskHandle<Answer>) -> Answer {
    match asked.try_join() {
        Ok(answer) => answer,
        Err(TryJoinError::Panicked(panic)) => Answer::Failed(panic.to_string()),
        Err(_) => Answer::TimedOut, // cancelled at the deadline
    }
}
// ANCHOR_END: ranked

// ANCHOR: nested_loop
/// Makes the well-known mistake: it pairs every company with every answer, so `n` companies have n²
/// entries.
pub(crate) fn nested_loop(companies: &[Company], asked: Vec<TaskHandle<Answer>>) -> Vec<Entry> {
    let answers: Vec<_> = asked.into_iter().map(answer).collect();
    let mut entries = Vec::new();
    for company in companies {
        for answer in &answers {
            entries.push(Entry { company: company.name.clone(), answer: answer.clone() });
        }
    }
    entries
}
// ANCHOR_END: nested_loop
