use std::io;

/// Where the lines of a log go. A sink belongs to the writer's thread, and no other thread calls it.
///
/// Lines that it cannot write now are not lost: the writer keeps them and tries again.
pub trait Sink: Send {
    /// Hands whole lines to the system, each ending in a line feed. Returns how many bytes it has taken for
    /// good: always whole lines, and at least one of them. The rest is handed in again, from there.
    ///
    /// A sink that has written only the first part of a line when an error comes remembers how much of the
    /// line is written. It goes on from there when the line comes again; if its destination has changed, it
    /// writes the whole line.
    ///
    /// # Blocking
    /// For a destination that may never be ready (a pipe, a socket), the call waits for a tenth of a second
    /// at most. Then this returns [`WouldBlock`](io::ErrorKind::WouldBlock), since the writer must notice a
    /// stop.
    ///
    /// # Errors
    /// If not even the first line could be written.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize>;

    /// Makes the system put what was written on the disk. Without a disk, does nothing.
    ///
    /// # Errors
    /// The system's error.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Reopens the destination: a program that rotates logs has moved the file away. By default does nothing.
    ///
    /// # Errors
    /// If it cannot be opened. Then the next [`write`](Self::write) tries again.
    fn reopen(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// A problem that did not prevent writing, for the operator. The writer asks after each
    /// [`write`](Self::write) that took lines, and says it on standard error. By default there is nothing.
    fn warning(&mut self) -> Option<String> {
        None
    }

    /// The destination's name in messages to an operator: the path of a file, for instance.
    fn name(&self) -> String;
}
