//! Keeps lines in memory, for tests of code that logs.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::Sink;

/// Keeps the lines in memory, all of them.
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

/// The lines of a [`MemorySink`]. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryLines {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl MemorySink {
    /// Begins without lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// A view of its lines, present and future ones.
    pub fn lines(&self) -> MemoryLines {
        self.lines.clone()
    }
}

impl MemoryLines {
    /// The lines so far, without their line feeds. A test flushes the service before it asks.
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
