//! Fills the disk of a log for a while, and shows what happens to lines of each level, and what
//! the log reports afterwards.
//!
//! ```sh
//! cargo run --example full_disk
//! ```
//!
//! This example belongs to the book's chapter "What *accepted* promises".

use logservice::sink::{MemorySink, Sink};
use logservice::{Durability, Level, LogService, Overflow, Record};
use std::error::Error;
use std::fmt::Write;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A disk that can be full.
struct Disk {
    full: Arc<AtomicBool>,
    asked: mpsc::Sender<()>,
    memory: MemorySink,
}

impl Sink for Disk {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let _ = self.asked.send(());
        if self.full.load(Relaxed) { Err(ErrorKind::StorageFull.into()) } else { self.memory.write(lines) }
    }

    fn name(&self) -> String {
        "the disk".to_owned()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (full, memory) = (Arc::new(AtomicBool::new(true)), MemorySink::new());
    let written = memory.lines();
    let (asked, was_asked) = mpsc::channel();
    // ANCHOR: policy
    let log = LogService::builder()
        .overflow(Level::Error, Overflow::BlockFor(Duration::from_millis(100)))
        .overflow(Level::Info, Overflow::DropNewest)
        .overflow(Level::Debug, Overflow::DropOldest)
        // ANCHOR_END: policy
        .format(|record: &Record<'_>, _: usize, line: &mut String| {
            let _ = write!(line, "{:?}: {}", record.level, record.message);
        })
        .capacity(64) // room for at most 16 lines, so that the buffer is soon full
        .longest_line(64)
        .start(Disk { full: Arc::clone(&full), asked, memory })?;
    let say = |level, what: &str, number| {
        let result = log.say(level, "full_disk", format_args!("{what} {number}"));
        println!(
            "{level:?}: {what} {number}: {}",
            result.map_or_else(|why| why.to_string(), |()| "accepted".into())
        );
    };

    say(Level::Info, "open", 1);
    was_asked.recv()?; // the writer has taken this line, but cannot write it
    // ANCHOR: lines
    (1..=3).for_each(|number| say(Level::Debug, "step", number));
    (1..=2).for_each(|number| say(Level::Info, "sold", number));
    (4..=5).for_each(|number| say(Level::Debug, "step", number));
    say(Level::Error, "unpaid", 1); // waits for a tenth of a second
    // ANCHOR_END: lines
    full.store(false, Relaxed);
    log.flush(Durability::System, Duration::from_secs(10))?;
    println!("--- the log, when there is room on the disk again");
    written.get().iter().for_each(|line| println!("{line}"));
    let counts = log.stop(Duration::from_secs(10));
    println!("--- {counts:?}");
    Ok(())
}
