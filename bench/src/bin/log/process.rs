//! Runs a logger in a separate process: most loggers are global, and in a separate process all time and
//! memory belong to the logger.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::load::Load;

/// The command for a process: it names the logger to measure, and the measurement.
pub(crate) struct Order<'a> {
    pub(crate) side: &'a str,
    pub(crate) row: &'a str,
    pub(crate) load: Load,
    pub(crate) file: &'a Path,
}

const ANSWER: &str = "measured ";

impl Order<'_> {
    /// Starts a process that carries out the command. Returns the numbers in the answer of the process.
    pub(crate) fn carried_out(&self) -> anyhow::Result<Vec<u64>> {
        let mut me = Command::new(env::current_exe().context("cannot find myself")?);
        let Load { threads, lines } = self.load;
        me.args([self.row, "--side", self.side, "--file"]).arg(self.file);
        me.args([format!("--threads={threads}"), format!("--lines={lines}")]);
        let output =
            me.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("cannot start myself")?;
        let said = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "its process ended with {}", output.status);
        let answer = said.lines().find_map(|line| line.strip_prefix(ANSWER));
        let numbers = answer.with_context(|| format!("it answers no numbers, but {said}"))?.split(' ');
        numbers.map(|number| number.parse().context("it answers numbers")).collect()
    }
}

/// Prints the answer of a process when it ends.
pub(crate) fn answer(numbers: &[u64]) {
    let numbers: Vec<_> = numbers.iter().map(u64::to_string).collect();
    println!("{ANSWER}{}", numbers.join(" "));
}
