//! Sends load to a server, and measures how the server copes with it.
//!
//! The clients use what the course teaches: they are tasks of a pool, with a thread for each client, and a
//! token stops them.
//!
//! ```text
//! args ─ plan ─▶ session ─ a task per connection ─▶ client (polite) ─ answer
//!                   │                              └▶ rude            │
//!                   │      schedule: who asks next, and when          │
//!                   ◀──────────────── tally, summed ──────────────────┘
//!                   └─▶ report (data, JSON), text, chart (SVG)
//! ```
//!
//! These rules make the numbers honest:
//!
//! 1. If a rate is given, the latency of a request counts from the moment when the request was *due*
//!    ([`schedule`]); requests that were never sent are reported.
//! 2. Only answers with a status below 400 count for the latency; refusals and failures are counted by kind,
//!    and no average includes them.
//! 3. The number of requests is exactly the number of answers plus the number of failures. If a request is
//!    sent again on a new connection, it counts as one request, and its latency counts from the first
//!    attempt.
//! 4. Each client is a thread of this machine, so the server must share the processors with the
//!    clients. So the figures only compare stages with each other: on a machine that runs only a
//!    server, they would be different.

mod answer;
mod args;
mod chart;
mod client;
mod optimised;
mod progress;
mod report;
mod rude;
mod said;
mod schedule;
mod session;
mod stage;
mod tally;
mod target;
mod text;

pub use args::LoadArgs;
pub use optimised::AS_BUILT;
#[cfg(test)]
pub(crate) use said::read as said_by;

use crate::log::Log;
use crate::workspace::Workspace;
use anyhow::{Context, bail};
use args::Plan;
use executor::CancelToken;
use report::{Report, Run, Setting};
use stage::Stage;
use std::fs::File;
use std::io::{self, Write};
use target::Target;

/// What signals have asked for.
struct Interrupt {
    /// The first signal cancels this token: the load ends gracefully.
    stop: CancelToken,
    /// The second signal cancels this token: the process and its children end now.
    at_once: CancelToken,
}

/// Sends the load to one server, or to stages that it starts, and prints the results.
///
/// # Errors
/// Returns an error if the arguments contradict each other or name something that does not exist, if a
/// stage does not start, or if no request was answered.
pub fn run(workspace: &Workspace, args: &LoadArgs) -> anyhow::Result<()> {
    let plan = args.plan()?;
    let target = args.url.as_deref().map(|url| Target::parse(url, args.allow_remote)).transpose()?;
    if optimised::is_needed() {
        target.as_ref().map(Target::look).transpose()?; // fails now, and not after a minute of compiling
        optimised::take_over(workspace)?;
    }
    let svg = args.svg.as_ref().map(|path| File::create(path).with_context(|| path.display().to_string()));
    let svg = svg.transpose()?; // fails now, and not after a minute of measuring
    let interrupt = Interrupt::on_signal()?;
    let runs = if let Some(target) = target {
        servers::show_diagnostics();
        measure_one(&plan, &target, &interrupt)?
    } else {
        let _log = Log::begin(workspace, "stages");
        compare(workspace, args, &plan, &interrupt)?
    };
    let report = Report { plan, setting: Setting::here(), runs };
    let text = if args.json { serde_json::to_string_pretty(&report)? + "\n" } else { report.text() };
    // If a reader closes the pipe of our output, that reader does not want more of the output.
    let _ = io::stdout().write_all(text.as_bytes());
    if let Some(mut svg) = svg {
        svg.write_all(chart::svg(&report).as_bytes()).context("cannot write the picture")?;
    }
    complain_of_silence(&report)
}

fn measure_one(plan: &Plan, target: &Target, interrupt: &Interrupt) -> anyhow::Result<Vec<Run>> {
    let mut runs = Vec::new();
    for step in plan.steps() {
        if interrupt.stop.is_cancelled() && !runs.is_empty() {
            break;
        }
        let measured = session::measure(plan, step, target, &interrupt.stop)?;
        runs.push(Run::new(target.url(), step, measured));
    }
    Ok(runs)
}

/// Compares several stages. Each run starts its stage anew, so that threads and memory of one run do not
/// affect the next run.
fn compare(
    workspace: &Workspace,
    args: &LoadArgs,
    plan: &Plan,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<Run>> {
    stage::build(workspace, &args.stages)?;
    let mut runs = Vec::new();
    for wanted in &args.stages {
        for step in plan.steps() {
            if interrupt.stop.is_cancelled() {
                return Ok(runs);
            }
            let stage = Stage::start(workspace, wanted, args.threads, interrupt)?;
            let target = Target::at(stage.addr, &args.path)?;
            let measured = session::measure(plan, step, &target, &interrupt.stop)?;
            let mut run = Run::new(target.url(), step, measured);
            run.used(stage.cpu_time());
            run.server_memory_kib = stage.most_memory_kib();
            run.remark = stage.died();
            run.stage = Some(wanted.to_string());
            runs.push(run);
        }
    }
    Ok(runs)
}

fn complain_of_silence(report: &Report) -> anyhow::Result<()> {
    for run in &report.runs {
        if run.answered == 0 && !run.interrupted {
            bail!("{} answered no request; is it a web server, and is it running?", run.url);
        }
    }
    Ok(())
}

impl Interrupt {
    fn on_signal() -> anyhow::Result<Interrupt> {
        let interrupt = Interrupt { stop: CancelToken::new(), at_once: CancelToken::new() };
        let at_once = interrupt.at_once.clone();
        let at_last = move || {
            at_once.cancel();
        };
        command_line::stop_on_signals_and(&interrupt.stop, || (), at_last)?;
        Ok(interrupt)
    }
}
