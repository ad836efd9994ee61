//! Shows a result that no task computes. One thread makes a promise. Another thread learns the result and
//! completes the promise.
//!
//! ```sh
//! cargo run --example keep_a_promise
//! ```
//!
//! The book explains this example in the chapter "Results by hand, and for many".

use executor::Promise;
use std::sync::Arc;
use std::thread;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: readers
    let (promise, price) = Promise::new();
    let price = price.shared();
    for reader in ["cache", "log"] {
        price.on_done(move |price| {
            println!("{reader} is told {price:?} by the {} thread", thread::current().name().unwrap());
        });
    }
    // ANCHOR_END: readers

    // ANCHOR: keep
    let promise = Arc::new(promise);
    let network = thread::Builder::new().name("network".into()).spawn({
        let promise = Arc::clone(&promise);
        move || promise.complete(12)
    })?;
    println!("the first answer: {:?}", network.join().expect("it does not panic"));
    println!("a second answer:  {:?}", promise.complete(13));
    println!("joined:           {} and again {}", price.join()?, price.join()?);
    // ANCHOR_END: keep

    // ANCHOR: given_up
    let (promise, price) = Promise::new();
    let token = promise.token();
    price.cancel();
    println!("not wanted:       cancelled: {}, {:?}", token.is_cancelled(), promise.complete(12));
    // ANCHOR_END: given_up

    // ANCHOR: forgotten
    let (promise, price) = Promise::<u32>::new();
    thread::spawn(move || drop(promise));
    println!("not kept:         {:?}", price.join());
    // ANCHOR_END: forgotten
    Ok(())
}
