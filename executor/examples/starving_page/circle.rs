//! Two pools whose tasks wait for each other.

use crate::renderer;
use executor::{FutureTask, JoinError, TaskHandle, prelude::*};
use std::{error::Error, sync::Arc};

// ANCHOR: circle
pub fn report() -> Result<(), Box<dyn Error>> {
    let front = Arc::new(renderer().name("front").build()?);
    let back = Arc::new(renderer().name("back").build()?);
    let (own, other) = (Arc::clone(&front), Arc::clone(&back));
    let page = FutureTask::new(move || {
        let data = FutureTask::new(move || {
            let login = FutureTask::new(|| "a login".to_owned()).named("login");
            wait_for(own.submit(login).expect("the pool accepts tasks"))
        });
        wait_for(other.submit(data.named("data")).expect("the pool accepts tasks"))
    });
    println!("{}", front.submit(page.named("page"))?.join()?);
    Ok(())
}
// ANCHOR_END: circle

/// Returns the task's result, or the reason why the task can never have a result.
fn wait_for(task: TaskHandle<String>) -> String {
    match task.join() {
        Err(JoinError::Starved(_task, report)) => format!("{report:#}"),
        other => other.expect("no task fails"),
    }
}
