//! Starts processes that log without a pause and then end, in ten different ways; the example tries each way
//! several times. The example counts how many of the accepted lines are in the file.
//!
//! ```sh
//! cargo run --example last_lines
//! ```
//!
//! This example belongs to the book's chapter "What *accepted* promises".

#[cfg(not(unix))]
fn main() {
    eprintln!("this example ends processes by signals, which are those of Unix");
}

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(end), Some(file)) => process::logs_and_ends(&end, &file),
        _ => report::print_the_table(),
    }
}

/// The processes that log and end.
#[cfg(unix)]
mod process {
    use executor::shutdown_hooks::ShutdownHooks;
    use logservice::sink::FileSink;
    use logservice::{Durability, Level, LogService};
    use signal_hook::consts::{SIGKILL, SIGTERM};
    use signal_hook::low_level::raise;
    use std::error::Error;
    use std::process::{abort, exit};
    use std::thread;
    use std::time::Duration;

    pub(super) const LINES: usize = 20_000;

    // ANCHOR: ends
    pub(super) fn logs_and_ends(end: &str, file: &str) -> Result<(), Box<dyn Error>> {
        let hooks = end.contains("hooks").then(|| ShutdownHooks::builder().install()).transpose()?;
        let log = LogService::builder().start(FileSink::builder(file).open()?)?;
        if let Some(hooks) = &hooks {
            log.stop_at_shutdown(hooks)?;
        }
        for number in 1..=LINES {
            log.say(Level::Info, "last_lines", format_args!("line {number}"))?; // an error ends the process
        }
        match end {
            "main returns" => {}
            "main panics" => panic!("main panics"),
            "another thread panics" => drop(thread::spawn(|| panic!("elsewhere")).join()),
            "exit through the hooks" => hooks.ok_or("no hooks")?.exit(0),
            "process::exit" => exit(0),
            "abort" => abort(),
            "flush, then SIGKILL" => {
                log.flush(Durability::System, Duration::from_secs(10))?;
                raise(SIGKILL)?;
            }
            "SIGKILL" => raise(SIGKILL)?,
            _ => {
                raise(SIGTERM)?; // registered hooks run on a separate thread
                thread::sleep(Duration::from_secs(10));
            }
        }
        Ok(())
    }
    // ANCHOR_END: ends
}

/// The process that starts the other processes and counts their lines.
#[cfg(unix)]
mod report {
    use super::process::LINES;
    use std::error::Error;
    use std::os::unix::process::ExitStatusExt;
    use std::path::Path;
    use std::process::{Command, ExitStatus, Stdio};
    use std::{env, fs};

    const ROUNDS: usize = 10;

    const ENDS: [&str; 10] = [
        "main returns",
        "main panics",
        "another thread panics",
        "SIGTERM, with hooks",
        "exit through the hooks",
        "flush, then SIGKILL",
        "process::exit",
        "SIGTERM",
        "abort",
        "SIGKILL",
    ];

    pub(super) fn print_the_table() -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        println!("{LINES} lines accepted, then the end, {ROUNDS} times each");
        println!("{:<24}{:<12}{:<12}fewest .. most", "the process ends by", "status", "lines lost");
        for end in ENDS {
            let file = folder.path().join(end.replace([' ', ':', ','], "_"));
            let (mut lost, mut status) = (Vec::new(), String::new());
            for _ in 0..ROUNDS {
                let _ = fs::remove_file(&file);
                status = told(run(end, &file)?);
                lost.push(LINES - found(&file)?);
            }
            let (fewest, most) = (lost.iter().min().unwrap_or(&0), lost.iter().max().unwrap_or(&0));
            let some = if *most > 0 { "some" } else { "none" };
            println!("{end:<24}{status:<12}{some:<12}{fewest} .. {most}");
        }
        Ok(())
    }

    fn run(end: &str, file: &Path) -> Result<ExitStatus, Box<dyn Error>> {
        let mut command = Command::new(env::current_exe()?);
        Ok(command.arg(end).arg(file).stderr(Stdio::null()).status()?)
    }

    fn told(status: ExitStatus) -> String {
        status
            .code()
            .map_or_else(|| format!("signal {}", status.signal().unwrap_or(0)), |code| code.to_string())
    }

    /// Returns the number of complete lines before the first gap.
    fn found(file: &Path) -> Result<usize, Box<dyn Error>> {
        let text = fs::read_to_string(file)?;
        let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let in_order = whole.zip(1..).take_while(|(line, number)| line.ends_with(&format!("line {number}")));
        Ok(in_order.count())
    }
}
