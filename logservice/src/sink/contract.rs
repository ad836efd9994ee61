use std::io;

/// Where the lines of a log go. It belongs to the writer's thread, which alone calls it.
///
/// What it cannot write now is not lost: the writer keeps it and tries again.
pub trait Sink: Send {
    /// Hands whole lines to the system, each ending in a line feed. Returns how many bytes it has taken for good: always whole
    /// lines, and at least one of them. The rest is handed in again, from there.
    ///
    /// A sink that has written only the first part of a line when an error comes remembers how much. It goes on from there when
    /// the line comes again, or writes the line as a whole if what it writes to is not the same any more.
    ///
    /// # Blocking
    /// It waits for a tenth of a second at most for what may never be ready (a pipe, a socket), and returns
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) then: the writer has an end to hear of.
    ///
    /// # Errors
    /// If not even the first line could be written.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize>;

    /// Has what was written put on the disk. Where there is no disk, does nothing.
    ///
    /// # Errors
    /// Whatever the system says.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Opens anew what it writes to: a program that rotates logs has moved the file away. By default does nothing.
    ///
    /// # Errors
    /// If it cannot be opened. Then the next [`write`](Self::write) tries again.
    fn reopen(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Something that has not kept it from writing, and that an operator should hear of. The writer asks after each
    /// [`write`](Self::write) that took lines, and says it on standard error. By default there is nothing.
    fn warning(&mut self) -> Option<String> {
        None
    }

    /// What it writes to, for messages to an operator: the path of a file, for instance.
    fn name(&self) -> String;
}
