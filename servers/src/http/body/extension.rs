//! What may follow the size of a chunk: `;name`, `;name=value` or `;name="quoted value"`, any number of
//! times.
//!
//! Hardly any client sends extensions, and this server ignores them, but every reader must find the end of
//! their line. A reader that knows quotation marks and a reader that only searches for CR LF find that end in
//! different places, unless the line follows the grammar (RFC 9112, 7.1.1): a quotation mark is closed on the
//! same line, and each semicolon is followed by a name.

use super::{is_text, is_token};

/// The state after the last byte of a chunk's extensions that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extension {
    /// A semicolon; white space may follow.
    Semicolon,
    Name,
    /// A name and white space: more must follow.
    SpaceAfterName,
    /// An equals sign; white space may follow.
    Equals,
    Value,
    Quoted,
    /// A backslash within quotation marks.
    Backslash,
    QuoteClosed,
    /// A value and white space: more must follow.
    SpaceAfterValue,
}

impl Extension {
    /// Returns the state after `byte`; `None` if the byte cannot stand here.
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

    /// Whether the line may end here.
    pub(super) fn is_complete(self) -> bool {
        matches!(self, Extension::Name | Extension::Value | Extension::QuoteClosed)
    }
}
