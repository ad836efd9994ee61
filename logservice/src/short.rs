use std::fmt::{self, Arguments, Write};

/// A text of at most 24 bytes, which needs no heap memory.
#[derive(Clone, Copy)]
pub(crate) struct Short {
    bytes: [u8; 24],
    length: usize,
}

impl Short {
    pub(crate) const EMPTY: Self = Self { bytes: [0; 24], length: 0 };

    /// Returns the formatted text, up to the first piece that does not fit.
    pub(crate) fn of(what: Arguments<'_>) -> Self {
        let mut short = Self::EMPTY;
        let _ = short.write_fmt(what);
        short
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).expect("it was put together of texts")
    }
}

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}
