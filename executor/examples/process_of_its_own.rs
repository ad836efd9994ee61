//! Shows work that checks no token, and that therefore runs in a separate process. When the result of the
//! work is no longer needed, the process is killed.
//!
//! ```sh
//! cargo run --features task-execution/processes --example process_of_its_own
//! ```
//!
//! The book explains this example in the chapter "Blocking that nobody can interrupt".

use executor::{CancelToken, CancellableChild, ThreadPoolExecutor, prelude::*};
use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

/// Stands for a library function that does not return.
fn work() {
    println!("half of the result");
    thread::sleep(Duration::from_secs(3600));
    println!("the other half");
}

// ANCHOR: process
/// Runs `work` in a separate process, sends each line that the process prints to `printed`, and waits until
/// the process has ended.
fn in_a_process(wanted: &CancelToken, printed: &Sender<String>) -> io::Result<ExitStatus> {
    let mut child = Command::new(env::current_exe()?).arg("work").stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take();
    let child = CancellableChild::new(child, wanted); // killed when it is cancelled
    for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
        let _ = printed.send(line?);
    }
    child.wait()
}
// ANCHOR_END: process

fn main() -> Result<(), Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("work") {
        work();
        return Ok(());
    }
    // ANCHOR: use
    let pool = ThreadPoolExecutor::single();
    let (sender, printed) = channel();
    let wanted = CancelToken::new();
    let own = wanted.clone();
    let result = pool.submit(move || in_a_process(&own, &sender))?;
    println!("printed: {:?}", printed.recv()?);
    wanted.cancel_because("the user pressed Esc");
    println!("the result: {}", result.join()?.unwrap_err());
    println!("printed after that: {:?}", printed.iter().collect::<Vec<_>>());
    println!("the thread does the next task: {}", pool.submit(|| 6 * 7)?.join()?);
    // ANCHOR_END: use
    Ok(())
}
