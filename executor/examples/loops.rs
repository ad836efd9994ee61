//! Two loops whose iterations become tasks. One loop should use tasks, and the other loop should not.
//!
//! ```sh
//! cargo run --example loops
//! ```
//!
//! The book explains this example in the chapter "Loops and recursion".

use executor::{ManualExecutor, TaskHandle, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::{Arc, Mutex};

// ANCHOR: independent
fn prices() -> [u64; 4] {
    [120, 80, 200, 40]
}

fn with_tax(price: u64) -> u64 {
    price + price / 5
}

fn sequential() -> Vec<u64> {
    prices().into_iter().map(with_tax).collect()
}

fn parallel(pool: &ThreadPoolExecutor) -> Result<Vec<u64>, Box<dyn Error>> {
    let ended = pool.invoke_all(prices().map(|price| move || with_tax(price)))?;
    Ok(ended.into_iter().map(TaskHandle::join).collect::<Result<_, _>>()?)
}
// ANCHOR_END: independent

// ANCHOR: carried
/// Returns the balance after each payment. Each iteration needs the balance from the previous iteration.
fn balances(order: impl Fn(usize) -> usize) -> Result<Vec<u64>, Box<dyn Error>> {
    let (executor, account) = (ManualExecutor::new(), Arc::new(Mutex::new((0, vec![0; 4]))));
    let tasks = prices().into_iter().enumerate().map(|(number, price)| {
        let account = Arc::clone(&account);
        executor.submit(move || {
            let mut account = account.lock().unwrap();
            account.0 += price;
            account.1[number] = account.0;
        })
    });
    let handles = tasks.collect::<Result<Vec<_>, _>>()?;
    (0..4).for_each(|turn| drop(executor.run(handles[order(turn)].id())));
    Ok(account.lock().unwrap().1.clone())
}
// ANCHOR_END: carried

fn main() -> Result<(), Box<dyn Error>> {
    println!("a loop:             {:?}", sequential());
    println!("a task each:        {:?}", parallel(&ThreadPoolExecutor::fixed(2))?);
    println!("balances, in order: {:?}", balances(|turn| turn)?);
    println!("in another order:   {:?}", balances(|turn| 3 - turn)?);
    Ok(())
}
