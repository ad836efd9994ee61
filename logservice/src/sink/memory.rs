//! A sink in memory, for tests of code that logs.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::Sink;

/// A sink that keeps all lines in memory.
///
/// ```
/// use logservice::Sink;
/// use logservice::sink::MemorySink;
///
/// # fn main() -> std::io::Result<()> {
/// let mut sink = MemorySink::new();
/// let lines = sink.lines(); // before the sink is given to a service
/// sink.write(b"one\ntwo\n")?; // as the service does
/// assert_eq!(lines.get(), ["one", "two"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct MemorySink {
    lines: MemoryLines,
}

/// The lines of a [`MemorySink`]. All clones show the same lines.
#[derive(Debug, Clone, Default)]
pub struct MemoryLines {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl MemorySink {
    /// Creates a sink without lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a view of the sink's present and future lines.
    pub fn lines(&self) -> MemoryLines {
        self.lines.clone()
    }
}

impl MemoryLines {
    /// Returns the lines so far, without their line feeds. A test must flush the service
    /// first.
    pub fn get(&self) -> Vec<String> {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
    }
}

impl Sink for MemorySink {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.lines.bytes.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(lines);
        Ok(lines.len())
    }

    fn name(&self) -> String {
        "memory".to_owned()
    }
}
