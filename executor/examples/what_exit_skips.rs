//! A process ends in two ways: `main` returns, or the program calls `std::process::exit`, which runs no
//! destructor.
//!
//! ```sh
//! cargo run --example what_exit_skips -- return
//! cargo run --example what_exit_skips -- exit
//! ```
//!
//! The book explains this example in the chapter "How a process ends".

use std::io::{BufWriter, Write, stdout};
use std::{env, process};

struct Lock(&'static str);

impl Drop for Lock {
    fn drop(&mut self) {
        println!("{} is given back", self.0);
    }
}

fn say_which() -> ! {
    eprintln!("say which: return or exit");
    process::exit(2);
}

fn main() {
    let how = env::args().nth(1).unwrap_or_default();
    // ANCHOR: main
    let _lock = Lock("the lock file");
    let mut report = BufWriter::new(stdout());
    let _ = writeln!(report, "the last line of the report");
    match how.as_str() {
        "return" => println!("main returns"),
        "exit" => {
            println!("main calls exit");
            process::exit(0);
        }
        _ => say_which(),
    }
    // ANCHOR_END: main
}
