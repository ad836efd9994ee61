//! A process is asked to end, but its first hook never ends. Then the process is asked to end a
//! second time.
//!
//! ```sh
//! cargo run --example second_signal
//! ```
//!
//! The book explains this example in the chapter "How a process ends".

use executor::shutdown_hooks::ShutdownHooks;
use signal_hook::{consts::SIGINT, low_level::raise};
use std::error::Error;
use std::process::Command;
use std::time::Duration;
use std::{env, thread};

fn end() -> Result<(), Box<dyn Error>> {
    let shutdown = ShutdownHooks::builder().deadline(Duration::from_secs(10)).install()?;
    shutdown.add("log", |_| println!("log: is closed"))?;
    shutdown.add("pool", |_| {
        println!("pool: waits for a task");
        raise(SIGINT).unwrap(); // the user presses Ctrl-C again
        thread::sleep(Duration::from_secs(3600)); // the task does not end
    })?;
    println!("main: somebody presses Ctrl-C");
    raise(SIGINT)?;
    thread::sleep(Duration::from_secs(3600));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    if env::args().nth(1).is_some() {
        return end();
    }
    let status = Command::new(env::current_exe()?).arg("end").status()?;
    println!("the process has ended with {:?}", status.code());
    Ok(())
}
