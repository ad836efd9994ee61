//! Shows the report that a page can never be drawn, and the code to which the pool sends the report.

use crate::{page, renderer};
use executor::panics::PanicReport;
use executor::{FutureTask, JoinError, prelude::*};
use std::{error::Error, sync::Arc, time::Duration};

type Shown = Result<(), Box<dyn Error>>;

// ANCHOR: report
pub fn report() -> Shown {
    let pool = Arc::new(renderer().build()?);
    let parts = Arc::clone(&pool);
    let page = pool.submit(FutureTask::new(move || page::draw(&parts)).named("page"))?;
    match page.join()? {
        Ok(page) => println!("{page}"),
        Err(report) => println!("{report}\n\n{report:#}"),
    }
    Ok(())
}
// ANCHOR_END: report

// ANCHOR: before
pub fn before() -> Shown {
    let pool = Arc::new(renderer().build()?);
    let own = Arc::clone(&pool);
    let page = FutureTask::new(move || {
        let header = own.submit(page::part("header")).expect("the pool accepts tasks");
        if let Err(JoinError::TimedOut(header)) = header.join_timeout(Duration::from_secs(1)) {
            println!("after a second: {header:?}\n{}", own.snapshot());
        }
    });
    Ok(pool.submit(page.named("page"))?.join()?)
}
// ANCHOR_END: before

// ANCHOR: unread
pub fn unread() -> Shown {
    let tell = |report: &PanicReport<'_>| println!("panic handler: {report}");
    let pool = Arc::new(renderer().panic_handler(tell).build()?);
    let own = Arc::clone(&pool);
    let page = FutureTask::new(move || {
        let header = own.submit(page::part("header")).expect("the pool accepts tasks");
        header.join().unwrap_or_else(|_| "no header".into())
    });
    println!("{}", pool.submit(page.named("page"))?.join()?);
    Ok(())
}
// ANCHOR_END: unread
