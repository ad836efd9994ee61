//! Two tasks search for the same answer. The slower task does not look at its token.

use executor::{CancelToken, ThreadPoolExecutor, prelude::*};
use std::sync::mpsc;

pub fn run() -> String {
    let pool = ThreadPoolExecutor::fixed(2);
    let (begun, has_begun) = mpsc::channel();
    let (release, is_released) = mpsc::channel();
    let (report, reported) = mpsc::channel();

    let loser: Box<dyn FnOnce() -> Result<&'static str, ()> + Send> = Box::new(move || {
        begun.send(()).unwrap();
        is_released.recv().unwrap(); // of `std`: it knows nothing of tokens
        report.send(CancelToken::current().is_cancelled()).unwrap();
        Ok("slow")
    });
    let winner = Box::new(move || {
        has_begun.recv().unwrap(); // so both are running
        Ok("quick")
    });
    let answer = pool.invoke_any([loser, winner]).unwrap();
    let has_ended = reported.try_recv().is_ok();

    release.send(()).unwrap();
    let is_cancelled = reported.recv().unwrap();
    format!("invoke_any: {answer}; the loser has ended: {has_ended}; its token is cancelled: {is_cancelled}")
}
