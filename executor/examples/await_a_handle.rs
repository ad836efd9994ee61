//! A handle is a `std::future::Future`: asynchronous code can await a result that a pool of threads computes.
//!
//! ```sh
//! cargo run --example await_a_handle
//! ```
//!
//! The book explains this example in the chapter "The handle".

use executor::{TaskError, ThreadPoolExecutor, prelude::*};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = ThreadPoolExecutor::fixed(2);
    // ANCHOR: await
    let low = pool.submit(|| (1..=50_u64).sum::<u64>())?;
    let high = pool.submit(|| (51..=100_u64).sum::<u64>())?;
    let total = async { Ok::<_, TaskError>(low.await? + high.await?) };
    println!("awaited: {}", block_on(total)?);
    // ANCHOR_END: await
    Ok(())
}

// ANCHOR: block_on
/// Acts as the smallest possible runtime: polls one future, and sleeps until a poll can make progress.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
// ANCHOR_END: block_on
