//! A pool with one thread. A task of this pool runs other tasks while it waits. The task of a page waits for
//! one of the page's two parts.

use executor::{OnStarvation, ThreadPoolExecutor, prelude::*};
use std::sync::{Arc, Mutex};

pub fn run() -> String {
    let pool = ThreadPoolExecutor::builder().threads(1).on_starvation(OnStarvation::Help { depth: 1 });
    let pool = Arc::new(pool.build().unwrap());
    let lines = Arc::new(Mutex::new(Vec::new()));
    let note = |line: &'static str| {
        let lines = Arc::clone(&lines);
        move || lines.lock().unwrap().push(line)
    };

    let (own, header, footer, page) = (Arc::clone(&pool), note("header"), note("footer"), note("page"));
    let drawn = pool.submit(move || {
        own.execute(header).unwrap();
        let footer = own.submit(footer).unwrap();
        let joined = footer.join().is_ok();
        page();
        joined
    });
    let joined = drawn.unwrap().join().unwrap();
    pool.close(); // waits for the worker

    format!("{}; the footer was joined: {joined}", lines.lock().unwrap().join(", "))
}
