//! Tests the facades, through which programs log. A process has only one logger and one subscriber. So a test
//! that sets the logger or the subscriber runs in its own process: this program starts itself again for the
//! single test.

mod alone; // the records that a process logs through both facades
mod inside; // logging during logging, at the end of a thread, and in a panic
mod outputs; // several services at once, and the source locations of records
mod layer; // a layer in a subscriber that only one thread uses

use std::cell::Cell;
use std::env;
use std::process::{self, Command};
use std::thread;

use crate::place::LONG;
use logservice::format::Json;
use logservice::sink::{MemoryLines, MemorySink};
use logservice::{Durability, Format, LogService};

/// A service, and the lines that it has written.
struct Log {
    service: LogService,
    lines: MemoryLines,
    seen: Cell<usize>,
}

impl Log {
    fn new(format: impl Format + 'static) -> Self {
        let sink = MemorySink::new();
        let (lines, seen) = (sink.lines(), Cell::new(0));
        Self { service: LogService::builder().format(format).start(sink).unwrap(), lines, seen }
    }

    fn json() -> Self {
        Self::new(Json::utc())
    }

    /// Returns the lines since the last call.
    fn lines(&self) -> Vec<String> {
        self.service.flush(Durability::System, LONG).unwrap();
        let lines = self.lines.get();
        lines[self.seen.replace(lines.len())..].to_vec()
    }

    fn objects(&self) -> Vec<serde_json::Value> {
        self.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the messages, with their levels and targets.
    fn said(&self) -> Vec<String> {
        let text = |object: &serde_json::Value, key| object[key].as_str().unwrap().to_owned();
        let objects = self.objects();
        let said = objects.iter().map(|object| {
            format!("{} {}: {}", text(object, "level"), text(object, "target"), text(object, "message"))
        });
        said.collect()
    }
}

/// Runs the body in its own process, which must succeed within [`LONG`].
pub(crate) fn run_alone(test: &str, body: impl FnOnce()) {
    const IN_IT: &str = "LOGSERVICE_TEST_OF_ITS_OWN";
    if env::var(IN_IT).is_ok_and(|name| name == test) {
        thread::spawn(|| {
            thread::sleep(LONG);
            eprintln!("hangs");
            process::abort();
        });
        return body();
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "--include-ignored", "--nocapture", test])
        .env(IN_IT, test)
        .env_remove("RUST_LOG");
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    println!("{}", said[0]);
    assert!(output.status.success() && said[0].contains("1 passed"), "{}:\n{}", output.status, said.concat());
}

/// Defines a test whose body runs in its own process.
macro_rules! in_own_process {
    ($(#[$attribute:meta])* $name:ident $body:block) => {
        #[test]
        $(#[$attribute])*
        fn $name() {
            // The first part of the module path is the crate's name.
            let module = module_path!().split_once("::").unwrap().1;
            $crate::facades::run_alone(&format!("{module}::{}", stringify!($name)), || $body);
        }
    };
}
pub(crate) use in_own_process;
