//! Four processes end in four ways. Each process has a destructor and a shutdown hook, and prints which of
//! these two has run.
//!
//! ```sh
//! cargo run --example which_hooks_run
//! ```
//!
//! The book explains this example in the chapter "How a process ends".

use executor::shutdown_hooks::ShutdownHooks;
use std::error::Error;
use std::process::{self, Command, Stdio};
use std::{env, str};

struct Lock;

impl Drop for Lock {
    fn drop(&mut self) {
        println!("destructor");
    }
}

fn end(how: &str) -> Result<(), Box<dyn Error>> {
    let shutdown = ShutdownHooks::builder().install()?;
    shutdown.add("log", |_| println!("hook"))?;
    let _lock = Lock; // its destructor prints a line, too
    match how {
        "process::exit" => process::exit(3),
        "ShutdownHooks::exit" => shutdown.exit(3),
        "main panics" => panic!("out of patience"),
        _ => Ok(()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(how) = env::args().nth(1) {
        return end(&how);
    }
    for how in ["main returns", "main panics", "process::exit", "ShutdownHooks::exit"] {
        let output = Command::new(env::current_exe()?).arg(how).stderr(Stdio::null()).output()?;
        let ran: Vec<&str> = str::from_utf8(&output.stdout)?.lines().collect();
        println!("{how:20} {:?}, {}", ran, output.status);
    }
    Ok(())
}
