//! Reads the lines that a stage writes to standard error.
//!
//! Each line becomes an event of the target [`STAGE`]. The first lines are also kept, for the error message
//! if the stage does not start.
//!
//! A stage must not wait for room in this pipe, because the wait would be part of its latencies. So the
//! thread that reads the pipe waits for nothing else. The log service accepts a line, or drops and counts it
//! (see [`crate::log`]).

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tracing::info;

/// The target of events that come from stages.
pub(crate) const STAGE: &str = "course::stage";

/// The number of bytes of a stage's first lines that are kept.
const KEPT: usize = 4096;

/// The greatest length of an event, in bytes. A line that is longer than this becomes several events.
const LONGEST: u64 = 4096;

/// The time for which the program waits for a stage's last lines after the stage has ended. A child process
/// of the stage may keep the pipe open.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The standard error of a stage; a separate thread reads it until the pipe is closed.
pub(crate) struct Said(mpsc::Receiver<String>);

impl Said {
    /// Begins to read the standard error of the stage with this name.
    pub(crate) fn by(stage: &str, stderr: impl Read + Send + 'static) -> Said {
        let (tell, said) = mpsc::channel();
        let stage = stage.to_owned();
        thread::spawn(move || {
            let _ = tell.send(read(&stage, stderr));
        });
        Said(said)
    }

    /// Waits for the stage's last lines, and returns its first ones. The caller may call this only after the
    /// stage has ended.
    pub(crate) fn beginning(&self) -> String {
        self.0.recv_timeout(LAST_LINES).unwrap_or_default()
    }
}

pub(crate) fn read(stage: &str, stderr: impl Read) -> String {
    let mut stderr = BufReader::with_capacity(64 * 1024, stderr);
    let (mut kept, mut line) = (Vec::new(), Vec::new());
    while let Ok(1..) = stderr.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
        kept.extend_from_slice(&line[..line.len().min(KEPT - kept.len())]);
        let text = String::from_utf8_lossy(&line);
        info!(target: STAGE, stage, "{}", text.trim_end_matches(['\r', '\n']));
        line.clear();
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::{Debug, Write};
    use std::sync::{Arc, Mutex};
    use tracing::field::{Field, Visit};
    use tracing::{Event, Subscriber, subscriber};
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);

    struct Shown<'a>(&'a mut String);

    impl Visit for Shown<'_> {
        fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
            write!(self.0, "{value:?} ").expect("a String takes everything");
        }
    }

    impl<S: Subscriber> Layer<S> for Lines {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            assert_eq!(event.metadata().target(), STAGE);
            let mut line = String::new();
            event.record(&mut Shown(&mut line));
            self.0.lock().unwrap().push(line.trim_end().to_owned());
        }
    }

    /// Reads a text like the output of a stage; returns the events, and the part of the text that is kept.
    fn read_all(said: &[u8]) -> (Vec<String>, String) {
        let lines = Lines::default();
        let registry = tracing_subscriber::registry().with(lines.clone());
        let kept = subscriber::with_default(registry, || read("one", said));
        let lines = std::mem::take(&mut *lines.0.lock().unwrap());
        (lines, kept)
    }

    #[test]
    fn each_line_is_an_event_with_the_name_of_the_stage() {
        let (lines, kept) = read_all(b"first\r\n\nthird \xff\nlast");
        assert_eq!(lines, ["first \"one\"", " \"one\"", "third \u{fffd} \"one\"", "last \"one\""]);
        assert_eq!(kept, "first\r\n\nthird \u{fffd}\nlast");
    }

    #[test]
    fn a_line_without_an_end_is_cut_and_little_of_it_is_kept() {
        let (lines, kept) = read_all(&vec![b'x'; 3 * 4096 + 1]);
        let lengths: Vec<_> = lines.iter().map(|line| line.matches('x').count()).collect();
        assert_eq!((lengths, kept.len()), (vec![4096, 4096, 4096, 1], 4096));
    }
}
