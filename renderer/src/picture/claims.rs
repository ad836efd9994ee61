//! Checks what a file claims about itself, before a decoder relies on these claims.
//!
//! The decoders of JPEG and WebP cannot be interrupted, so their work must be limited before they start.

use super::{ImageLimits, allowed, size};
use crate::gap::Gap;
use std::borrow::Cow;

/// The largest number of parts that a JPEG may have in addition to its pixels. Profiles and similar data are
/// cut into parts of 64 KiB. The time of the decoder grows with the square of the number of parts of one
/// kind.
const MOST_SEGMENTS: u64 = 1000;

/// Returns the largest number of passes over its pixels that a JPEG can need. A JPEG without an end marker is
/// refused, because the decoder would paint its missing part grey. Bytes after the end marker are ignored,
/// because telephones put a short video after this marker.
pub(super) fn passes(bytes: &[u8]) -> Result<u64, Gap> {
    let (scans, segments) = parts_to_the_end(bytes).ok_or_else(ends_too_early)?;
    if segments > MOST_SEGMENTS {
        return Err(Gap::NotAnImage(format!("it has {segments} parts, and {MOST_SEGMENTS} are allowed")));
    }
    Ok(scans)
}

/// Returns how many scans and how many segments a JPEG has. Returns `None` if the JPEG has no end marker.
fn parts_to_the_end(bytes: &[u8]) -> Option<(u64, u64)> {
    let (mut at, mut scans, mut segments) = (2, 0, 0);
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == 0xff)?;
        match *bytes.get(at + 1)? {
            0xff => at += 1,                      // fills up
            0x00 | 0x01 | 0xd0..=0xd8 => at += 2, // belongs to the pixels, or has no length
            0xd9 => return Some((scans, segments)),
            kind => {
                scans += u64::from(kind == 0xda);
                segments += 1;
                let length = bytes.get(at + 2..at + 4)?;
                at += 2 + usize::from(u16::from_be_bytes([length[0], length[1]]));
            }
        }
    }
}

/// The largest number of bytes of codes in lossless data, in addition to four bytes for each pixel. The
/// decoder builds tables from the codes; the tables are hundreds of times as large as the codes.
const MOST_CODES: u64 = 64 << 10;

/// Refuses a WebP if one of its parts is longer than the file or longer than its pixels need, or if a frame
/// is larger than allowed. The check does not use the size that the file claims.
pub(super) fn check_parts(bytes: &[u8], limits: &ImageLimits) -> Result<(), Gap> {
    let (width, height) = size(bytes).unwrap_or_default();
    let longest = u64::from(width) * u64::from(height) * 4 + MOST_CODES;
    check_each(bytes.get(12..).unwrap_or_default(), longest, limits)
}

fn check_each(mut rest: &[u8], longest: u64, limits: &ImageLimits) -> Result<(), Gap> {
    while let Some((head, behind)) = rest.split_at_checked(8) {
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let Some(part) = behind.get(..length) else { return Err(ends_too_early()) };
        match &head[..4] {
            b"ANMF" => check_each(part.get(16..).unwrap_or_default(), longest, limits)?,
            b"VP8 " if part.len() >= 10 => {
                let side = |at: usize| u32::from(u16::from_le_bytes([part[at], part[at + 1]]) & 0x3fff);
                allowed((side(6), side(8)), limits)?;
            }
            b"VP8L" | b"ALPH" if length as u64 > longest => {
                return Err(Gap::NotAnImage("it has more bytes than its pixels need".to_owned()));
            }
            _ => (),
        }
        rest = behind.get(length + length % 2..).unwrap_or_default();
    }
    Ok(())
}

/// If a GIF has no colour table, adds a table of two whites so that the decoder accepts the GIF; transparent
/// spacers have no colour table. Other GIFs are not changed.
pub(super) fn with_colours(bytes: &[u8]) -> Cow<'_, [u8]> {
    match bytes.split_at_checked(13) {
        Some((head, rest)) if head.starts_with(b"GIF8") && head[10] & 0x80 == 0 => {
            let mut complete = [head, &[0xff; 6], rest].concat();
            complete[10] = 0x80;
            Cow::Owned(complete)
        }
        _ => Cow::Borrowed(bytes),
    }
}

fn ends_too_early() -> Gap {
    Gap::NotAnImage("it ends too early".to_owned())
}
