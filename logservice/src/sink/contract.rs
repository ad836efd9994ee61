use std::io;

/// A destination for the lines of a log. A sink belongs to the writer's thread, and no other thread calls
/// its methods.
///
/// Lines that the sink cannot write now are not lost: the writer keeps these lines and tries again.
pub trait Sink: Send {
    /// Passes whole lines to the system; each line ends in a line feed. Returns the number of bytes that the
    /// sink has taken permanently; these bytes are one or more whole lines. The writer passes the remaining
    /// lines to the sink again.
    ///
    /// If an error occurs after only the first part of a line was written, the sink remembers the length of
    /// this part. When the line comes again, the sink writes only the rest; if the sink's destination has
    /// changed, the sink writes the whole line.
    ///
    /// # Blocking
    /// If a destination may stay busy forever (a pipe, a socket), the call waits for it at most a tenth of a
    /// second. If the destination is still not ready, the call returns
    /// [`WouldBlock`](io::ErrorKind::WouldBlock), because the writer must notice a stop.
    ///
    /// # Errors
    /// Fails if not even the first line could be written.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize>;

    /// Makes the system put all written lines on the disk. A sink without a disk does nothing.
    ///
    /// # Errors
    /// Returns the system's error if the sync fails.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Reopens the destination, because a program that rotates logs has moved the file away. The default
    /// implementation does nothing.
    ///
    /// # Errors
    /// Fails if the destination cannot be opened. After an error, the next [`write`](Self::write) tries
    /// again.
    fn reopen(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Returns a message for the operator about a problem that did not prevent writing. The writer calls this
    /// method after each [`write`](Self::write) that took lines, and prints the message on standard error.
    /// The default implementation returns no message.
    fn warning(&mut self) -> Option<String> {
        None
    }

    /// Returns the destination's name for messages to an operator, for example the path of a file.
    fn name(&self) -> String;
}
