//! Draws four images of a page twice: in the page's order, and in the order in which the images arrive.
//!
//! ```sh
//! cargo run --example completion_order
//! ```
//!
//! The book explains this example in the chapter "Results as they come".

use executor::{ExecutorCompletionService, TaskHandle, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::thread;
use std::time::Duration;

// ANCHOR: images
/// The images in the order of the page; each image has the time for its download, in units of 0.3 seconds.
const IMAGES: [(&str, u32); 4] = [("banner", 4), ("photo", 3), ("logo", 1), ("map", 2)];
// ANCHOR_END: images

fn fetch(image: &'static str, units: u32) -> &'static str {
    thread::sleep(Duration::from_millis(300) * units); // stands for the network
    image
}

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::fixed(4);
    in_the_order_of_the_page(&pool)?;
    as_they_come(&pool)
}

// ANCHOR: page_order
fn in_the_order_of_the_page(pool: &ThreadPoolExecutor) -> Result<(), Box<dyn Error>> {
    println!("in the order of the page:");
    let mut handles = Vec::new();
    for (image, units) in IMAGES {
        handles.push(pool.submit(move || fetch(image, units))?);
    }
    while !handles.is_empty() {
        let image = handles.remove(0).join()?;
        let ready = handles.iter().filter(|handle| TaskHandle::is_finished(handle)).count();
        println!("  {image:<7} drawn, {ready} lie ready, {} are still to come", handles.len() - ready);
    }
    Ok(())
}
// ANCHOR_END: page_order

// ANCHOR: completion_order
fn as_they_come(pool: &ThreadPoolExecutor) -> Result<(), Box<dyn Error>> {
    println!("as they come:");
    let images = ExecutorCompletionService::new(pool);
    for (image, units) in IMAGES {
        images.submit(move || fetch(image, units))?;
    }
    while let Some(handle) = images.take()? {
        let image = handle.join()?; // does not block: the task has ended
        println!("  {image:<7} drawn, {} are still to come", images.outstanding());
    }
    Ok(())
}
// ANCHOR_END: completion_order
