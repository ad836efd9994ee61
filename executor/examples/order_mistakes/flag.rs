//! A flag says whether a job is active. If a job panics, the flag stays set.

use crate::line::Line;
use executor::{SerialExecutor, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;

// ANCHOR: flag
pub fn show() -> Result<(), Box<dyn Error>> {
    let line = Line::over(ThreadPoolExecutor::fixed(2));
    let (tell, told) = mpsc::channel();
    line.execute(|| panic!("the first job dies"));
    line.execute(move || tell.send("the second job has run").expect("main listens"));
    println!("flag: {}", told.recv_timeout(Duration::from_secs(1)).unwrap_or("nothing for 1 s"));

    let line = SerialExecutor::owning(ThreadPoolExecutor::fixed(2));
    let (tell, told) = mpsc::channel();
    line.execute(|| panic!("the first task dies"))?;
    line.execute(move || tell.send("the second task has run").expect("main listens"))?;
    println!("ours: {}", told.recv()?);
    Ok(())
}
// ANCHOR_END: flag
