//! One thread and three tasks show that a caller cancels a task or a pool, and never a thread.
//!
//! ```sh
//! cargo run --example whose_request
//! ```
//!
//! The book explains this example in the chapter "Cancellation policies".

use executor::{CancelToken, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let (say, said) = mpsc::channel();
    // ANCHOR: tasks
    let begin = |sleeps| -> Result<_, Box<dyn Error>> {
        let say = say.clone();
        let (begun, has_begun) = mpsc::channel();
        let task = pool.submit(move || {
            let _ = begun.send(thread::current().id());
            let _ = say.send(CancelToken::current().sleep(sleeps));
        })?;
        Ok((task, has_begun.recv()?))
    };

    let (first, thread) = begin(HOUR)?;
    first.cancel_because("not needed any more");
    println!("the first task, cancelled by its handle: {:?}", said.recv()?);

    let (second, same_thread) = begin(Duration::ZERO)?;
    println!("the second, which was not cancelled:     {:?}", said.recv()?);

    let (third, and_again) = begin(HOUR)?;
    drop(pool.shutdown_now());
    println!("the third, when its pool is stopped:     {:?}", said.recv()?);
    // ANCHOR_END: tasks
    println!("all on one thread: {}", [same_thread, and_again] == [thread; 2]);
    drop((second, third));
    Ok(())
}
