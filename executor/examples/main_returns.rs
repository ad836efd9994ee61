//! `main` returns while other threads are still working. The other threads end with the process, without any
//! clean-up. Only a thread that `main` has joined is certain to finish its work.
//!
//! ```sh
//! cargo run --example main_returns
//! ```
//!
//! The book explains this example in the chapter "How a process ends".

use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

/// A value that must clean up when it is dropped.
struct Desk(&'static str);

impl Drop for Desk {
    fn drop(&mut self) {
        println!("{}: tidied up", self.0);
    }
}

fn work(own: Desk, has_begun: Sender<()>, takes: Duration) {
    println!("{}: begins", own.0);
    let _ = has_begun.send(());
    thread::sleep(takes);
    println!("{}: has finished", own.0);
}

fn main() {
    // ANCHOR: main
    let _own = Desk("main");
    let (tell, told) = mpsc::channel();
    let joined = thread::spawn({
        let tell = tell.clone();
        move || work(Desk("the joined thread"), tell, Duration::from_millis(100))
    });
    let _ = told.recv();
    thread::spawn(move || work(Desk("the other thread"), tell, Duration::from_secs(3600)));
    let _ = told.recv();
    let _ = joined.join();
    println!("main: returns");
    // ANCHOR_END: main
}
