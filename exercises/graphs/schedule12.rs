//! A client logs a line, a writer writes the lines of the log, and an owner stops the log. If the log refuses
//! a line, the client prints that line.

use exercises_harness::model::graph::Scenario;
use exercises_harness::step;

use super::exercise::Log;
use crate::sync::Arc;

pub fn scenario() -> Scenario {
    let log = Arc::new(Log::default());
    let (of_the_client, of_the_writer) = (Arc::clone(&log), Arc::clone(&log));
    Scenario::new()
        .thread("client", "if log.log(line).is_err() { print(line) }", move || {
            if of_the_client.log("line".into()).is_err() {
                step("prints the line");
            }
        })
        .thread("writer", "log.run(print)", move || of_the_writer.run(|_| step("prints the line")))
        .thread("owner", "log.stop()", move || log.stop())
        .promise("prints the line", "the line was accepted and is not written")
}
