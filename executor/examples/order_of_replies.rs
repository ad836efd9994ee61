//! A page sends two requests for the price. The two replies can come in either order, and a test chooses the
//! order.
//!
//! ```sh
//! cargo run --example order_of_replies
//! ```
//!
//! The book explains this example in the chapter "Testing code that submits".

use executor::{Executor, ManualExecutor, SerialExecutor, prelude::*};
use std::sync::{Arc, Mutex};

// ANCHOR: page
/// A page that shows the price in the reply that came last.
#[derive(Default)]
struct Page(Arc<Mutex<u32>>);

impl Page {
    fn reload(&self, price: u32, executor: &dyn Executor) {
        let shown = Arc::clone(&self.0);
        executor.execute(move || *shown.lock().unwrap() = price).expect("the test refuses nothing");
    }
}
// ANCHOR_END: page

// ANCHOR: orders
fn main() {
    let (page, network) = (Page::default(), ManualExecutor::new());
    page.reload(41, &network); // yesterday's price
    page.reload(42, &network); // today's
    let [first, second] = network.pending().try_into().expect("there are two");
    network.run(second.id);
    network.run(first.id);
    println!("the second is run before the first: the page shows {}", page.0.lock().unwrap());

    let (page, network) = (Page::default(), ManualExecutor::new());
    let in_order = SerialExecutor::over(&network);
    page.reload(41, &in_order);
    page.reload(42, &in_order);
    let pending = network.pending().len();
    network.run_all();
    println!(
        "in a line, of which {pending} task is pending below: the page shows {}",
        page.0.lock().unwrap()
    );
}
// ANCHOR_END: orders
