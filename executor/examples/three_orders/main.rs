//! Runs six tasks on one pool in three ways: in any order, all tasks one after the other, and the tasks of
//! each name one after the other.
//!
//! ```sh
//! cargo run --example three_orders
//! ```
//!
//! The book explains this example in the chapter "Order without a lock".

#![allow(unreachable_pub)] // the module is written like a module of a library

mod tasks; // tasks of Ada and of Grace

use executor::{RejectedExecution, SerialExecutor, StripedExecutor, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;

// ANCHOR: orders
fn main() -> Result<(), RejectedExecution> {
    let pool = Arc::new(ThreadPoolExecutor::fixed(3));
    let one_line = SerialExecutor::over(&pool);
    let striped = StripedExecutor::over(Arc::clone(&pool));
    tasks::show("the pool", |_, task| pool.execute(task))?;
    tasks::show("serial", |_, task| one_line.execute(task))?;
    tasks::show("striped", |name, task| striped.execute_in(name, task))
}
// ANCHOR_END: orders
