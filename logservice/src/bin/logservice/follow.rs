//! `logservice follow` prints the lines of a log as they are written.

use anyhow::Context;
use clap::Args;
use executor::CancelToken;
use executor::shutdown_hooks::ShutdownHooks;
use logservice::Follow;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

const AFTER_HELP: &str = "Goes on when the log is rotated, moved, truncated, removed or not there yet. Ctrl-C ends it, with exit code 0;
1 if the output cannot be written.";

/// Print the lines of a log as they are written, over rotations
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct FollowArgs {
    /// The log
    file: PathBuf,

    /// Begin with this many of the present lines [default: all of them]
    #[arg(long, short = 'n', value_name = "COUNT")]
    lines: Option<usize>,
}

pub(crate) fn run(args: &FollowArgs) -> anyhow::Result<ExitCode> {
    let hooks = ShutdownHooks::builder().deadline(Duration::from_secs(5)).install()?;
    let token = CancelToken::new();
    let (tell_end, end) = mpsc::channel::<()>();
    let stop = token.clone();
    hooks.add("follow", move |shutdown| {
        stop.cancel();
        let _ = end.recv(); // waits until the present line is printed
        shutdown.set_status(0);
    })?;

    let follow = Follow::new(&args.file, token);
    let follow = if let Some(lines) = args.lines { follow.last(lines) } else { follow };
    let printed = print(follow);
    drop(tell_end);
    match printed {
        // The reader, for example `head`, has closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        printed => printed.context("the lines cannot be printed")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Reports the first read error; reports another error only after lines have come again.
fn print(mut lines: Follow) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut is_told = false;
    while let Some(line) = lines.next() {
        match line {
            Ok(line) => {
                is_told = false;
                out.write_all(&line)?;
                if !lines.goes_on() {
                    out.write_all(b"\n")?;
                }
            }
            Err(error) if !is_told => {
                is_told = true;
                eprintln!("logservice: {error}; still trying");
            }
            Err(_) => {}
        }
    }
    out.flush()
}
