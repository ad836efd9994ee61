//! A greeter that uses one token for all its rounds: the second round is cancelled before it begins.

use crate::greet;
use crate::greeter::Greeter;
use crate::request::says_begin_again;
use executor::{CancelToken, Cancelled, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::process;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

fn run_with_one_token(greeter: &Greeter, tell: &Sender<&'static str>) -> Cancelled {
    let round = CancelToken::current().child();
    loop {
        let greeting = greeter.begin(&round);
        let cancelled = round.attach(|| greet(greeting, tell));
        if !says_begin_again(&cancelled) {
            return cancelled;
        }
    }
}

pub fn restart() -> Result<(), Box<dyn Error>> {
    let greeter = Arc::new(Greeter::new("hello"));
    let (tell, told) = mpsc::channel();
    let pool = ThreadPoolExecutor::single();
    let runs = Arc::clone(&greeter);
    pool.execute(move || println!("it has ended: {}", run_with_one_token(&runs, &tell)))?;
    println!("it greets with {:?}", told.recv()?);
    greeter.restart_with("good morning");
    println!("it has begun {} rounds since, and each has ended at once", told.iter().take(1_000).count());
    process::exit(1); // otherwise it would go on like this
}
