//! Shows a value that logs while it is formatted, a destructor and a panic hook that log, and a sink that
//! logs. A logger that formats under its own lock deadlocks on a nested record; the log service does not
//! deadlock.
//!
//! ```sh
//! cargo run --example logs_from_everywhere -- naive
//! cargo run --example logs_from_everywhere -- ours
//! ```
//!
//! This example belongs to the book's chapter "A logger to keep".

use logservice::sink::{MemorySink, Sink};
use logservice::{Level, LogHandle, LogService, Record};
use std::error::Error;
use std::fmt::{self, Arguments, Display, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;
use std::{env, io, panic, thread};

/// The logger that the values of this program use.
trait Log: Send + Sync {
    fn say(&self, message: Arguments<'_>);
}

// ANCHOR: naive
/// A logger that formats each line directly into the log, while the logger holds its lock.
struct Naive(Mutex<String>);

impl Log for Naive {
    fn say(&self, message: Arguments<'_>) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(file, "{message}"); // runs the `Display` of every value, under the lock
    }
}
// ANCHOR_END: naive

impl Log for LogHandle {
    fn say(&self, message: Arguments<'_>) {
        let _ = self.say(Level::Info, "everywhere", message);
    }
}

// ANCHOR: values
/// A value that looks up its name when the value is formatted, and logs this look-up.
struct Customer(Arc<dyn Log>);

impl Display for Customer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.say(format_args!("looks up a customer"));
        f.write_str("Ada")
    }
}

/// A value that logs its end when it is dropped.
struct Till(Arc<dyn Log>);

impl Drop for Till {
    fn drop(&mut self) {
        self.0.say(format_args!("the till is closed"));
    }
}

fn work(log: &Arc<dyn Log>) {
    let _till = Till(Arc::clone(log));
    log.say(format_args!("{} buys three books", Customer(Arc::clone(log))));
    panic!("no paper"); // the panic hook logs, and then the destructor does
}
// ANCHOR_END: values

/// A sink that logs what it does.
struct Chatty(MemorySink, Arc<OnceLock<LogHandle>>);

impl Sink for Chatty {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        if let Some(log) = self.1.get()
            && let Err(refused) = log.say(Level::Info, "sink", format_args!("writes {} bytes", lines.len()))
            && lines.ends_with(b"the till is closed\n")
        {
            println!("the sink logs: {refused}");
        }
        self.0.write(lines)
    }

    fn name(&self) -> String {
        "memory".to_owned()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    match env::args().nth(1).as_deref() {
        Some("naive") => {
            let log: Arc<dyn Log> = Arc::new(Naive(Mutex::default()));
            let ends = works_and_ends(&log);
            println!(
                "{}",
                if ends { "it came to its end" } else { "after two seconds it still waits for its own lock" }
            );
        }
        Some("ours") => {
            let (memory, handle) = (MemorySink::new(), Arc::new(OnceLock::new()));
            let lines = memory.lines();
            let format = |record: &Record<'_>, _: usize, line: &mut String| {
                let _ = write!(line, "{}", record.message);
            };
            let service = LogService::builder().format(format).start(Chatty(memory, Arc::clone(&handle)))?;
            let _ = handle.set(service.handle());
            let log: Arc<dyn Log> = Arc::new(service.handle());
            works_and_ends(&log);
            let counts = service.stop(Duration::from_secs(10));
            lines.get().iter().for_each(|line| println!("{line}"));
            println!("accepted {}, written {}", counts.accepted, counts.written);
        }
        _ => {
            eprintln!("say which: naive or ours");
            std::process::exit(2);
        }
    }
    Ok(())
}

/// Runs the work on a new thread. Returns true if the work ends within two seconds.
fn works_and_ends(log: &Arc<dyn Log>) -> bool {
    let (for_hook, for_thread) = (Arc::clone(log), Arc::clone(log));
    panic::set_hook(Box::new(move |panic| {
        for_hook.say(format_args!("panic: {}", panic.payload_as_str().unwrap_or("something")));
    }));
    let (ended, ends) = mpsc::channel::<()>();
    thread::spawn(move || {
        let _ended = ended; // dropped at the end of this thread
        work(&for_thread);
    });
    ends.recv_timeout(Duration::from_secs(2)) != Err(mpsc::RecvTimeoutError::Timeout)
}
