//! Parses the extensions that may follow the size of a chunk: any number of `;name`, `;name=value` or
//! `;name="quoted value"`.
//!
//! Few clients send extensions, and this server ignores them, but every reader must find the end of the
//! line that contains them. One reader may understand quotation marks, while another only searches for CR
//! LF. These two readers agree on the end only if the line follows the grammar (RFC 9112, 7.1.1). In that
//! grammar, a quotation mark is closed on the same line, and each semicolon is followed by a name.

use super::{is_text, is_token};

/// The state of the parser after the last byte that it has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extension {
    /// The last byte was a semicolon; white space may follow.
    Semicolon,
    Name,
    /// The last bytes were a name and white space: an equals sign or a semicolon must follow.
    SpaceAfterName,
    /// The last byte was an equals sign; white space may follow.
    Equals,
    Value,
    Quoted,
    /// The last byte was a backslash within quotation marks.
    Backslash,
    QuoteClosed,
    /// The last bytes were a value and white space: a semicolon must follow.
    SpaceAfterValue,
}

impl Extension {
    /// Returns the state after `byte`; returns `None` if the grammar does not allow the byte in
    /// this state.
    pub(super) fn then(self, byte: u8) -> Option<Extension> {
        use Extension::{
            Backslash, Equals, Name, QuoteClosed, Quoted, Semicolon, SpaceAfterName, SpaceAfterValue, Value,
        };
        Some(match (self, byte) {
            (Quoted, b'"') => QuoteClosed,
            (Quoted, b'\\') => Backslash,
            (Quoted | Backslash, _) if is_text(byte) => Quoted,
            (Semicolon | Equals, b' ' | b'\t') => self,
            (Semicolon | Name, _) if is_token(byte) => Name,
            (Equals, b'"') => Quoted,
            (Equals | Value, _) if is_token(byte) => Value,
            (Name | SpaceAfterName, b' ' | b'\t') => SpaceAfterName,
            (Name | SpaceAfterName, b'=') => Equals,
            (Value | QuoteClosed | SpaceAfterValue, b' ' | b'\t') => SpaceAfterValue,
            (Name | SpaceAfterName | Value | QuoteClosed | SpaceAfterValue, b';') => Semicolon,
            _ => return None,
        })
    }

    /// Returns whether the line may end here.
    pub(super) fn is_complete(self) -> bool {
        matches!(self, Extension::Name | Extension::Value | Extension::QuoteClosed)
    }
}
