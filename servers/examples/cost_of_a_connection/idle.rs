//! Measures a stage that has many idle clients. Each client has sent one request, and keeps its
//! connection open.

use crate::stage::{Client, Stage, binary};
use anyhow::Context;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// The number of threads, the number of descriptors, and the memory of a process.
#[derive(Clone, Copy, PartialEq)]
struct Has {
    threads: usize,
    descriptors: usize,
    memory: u64,
}

pub(crate) fn show(stages: &[String], clients: usize) -> anyhow::Result<()> {
    println!("{clients} clients have asked once, one after the other, and stay");
    println!("stage              still open   threads   descriptors   memory KiB   for each open one, KiB");
    for name in stages {
        let stage = Stage::start(Command::new(binary(name)?))?;
        // ANCHOR: crowd
        let mut first = Client::connect(stage.addr)?;
        first.send()?;
        first.receive()?;
        let before = settled(&stage)?;
        let mut crowd = Vec::new();
        for number in 1..=clients {
            let mut client = Client::connect(stage.addr).with_context(|| {
                format!("no descriptor for client {number}: raise the limit (`ulimit -n`)")
            })?;
            client.send()?;
            client.receive()?;
            crowd.push(client);
        }
        let after = settled(&stage)?;
        // ANCHOR_END: crowd
        let mut open = 0;
        for client in &crowd {
            open += usize::from(client.is_open()?);
        }
        let more = after.memory.saturating_sub(before.memory);
        let each = match open {
            0 => "–".to_owned(),
            open => format!("{:.1}", more as f64 / open as f64),
        };
        println!(
            "{name:16}{open:13}{:10}{:14}{:13}{each:>26}",
            after.threads, after.descriptors, after.memory
        );
    }
    Ok(())
}

/// Waits until the numbers no longer change, because threads need some time to start and to end; then returns
/// the resources of the process.
fn settled(stage: &Stage) -> anyhow::Result<Has> {
    let look = || -> anyhow::Result<Has> {
        Ok(Has { threads: stage.count("task")?, descriptors: stage.count("fd")?, memory: stage.memory()? })
    };
    let (mut last, mut equal) = (look()?, 0);
    while equal < 3 {
        thread::sleep(Duration::from_millis(100)); // the interval of the checks
        let now = look()?;
        equal = if now == last { equal + 1 } else { 0 };
        last = now;
    }
    Ok(last)
}
