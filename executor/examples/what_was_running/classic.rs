//! The classic listing: when a task has ended, it checks whether it was asked to stop.

use crate::pages::Pages;
use executor::{CancelToken, Cancelled, RejectedExecution, Task, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct Tracking {
    pool: ThreadPoolExecutor,
    cut_off: Arc<Mutex<Vec<&'static str>>>,
}

impl Tracking {
    // ANCHOR: classic
    fn execute(
        &self,
        page: &'static str,
        fetch: impl FnOnce(&CancelToken) -> Result<(), Cancelled> + Send + 'static,
    ) -> Result<(), RejectedExecution> {
        let cut_off = Arc::clone(&self.cut_off);
        let wrapper = move || {
            let token = CancelToken::current();
            let _result = fetch(&token); // a Runnable returns nothing
            if token.is_cancelled() {
                cut_off.lock().unwrap().push(page);
            }
        };
        self.pool.execute(Task::new(wrapper).named(page))
    }
    // ANCHOR_END: classic
}

pub fn show() -> Result<(), Box<dyn Error>> {
    let crawler = Tracking { pool: ThreadPoolExecutor::fixed(2), cut_off: Arc::default() };
    let pages = Pages::default();
    crawler.execute("/done", pages.done())?;
    crawler.execute("/half", pages.half())?;
    crawler.execute("/later", Pages::later)?;
    pages.wait_until_two_run();
    for task in crawler.pool.shutdown_now() {
        println!("{}: not begun", task.name().expect("each has a name"));
    }
    pages.go_on();
    crawler.pool.await_termination(Duration::from_secs(60));
    crawler.cut_off.lock().unwrap().sort_unstable();
    for page in crawler.cut_off.lock().unwrap().iter() {
        println!("{page}: cut off");
    }
    Ok(())
}
