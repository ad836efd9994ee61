//! Finds the size that an image claims at the beginning of its file.
//!
//! The layout uses this size before anything is decoded; a wrong size only makes the place too large or too
//! small.

use super::lies_on_its_side;
use image::metadata::Orientation;

/// Returns the width and height in pixels, after any rotation. Returns `None` if the given bytes do
/// not contain the size.
pub(crate) fn size(begin: &[u8]) -> Option<(u32, u32)> {
    let (width, height) = match begin {
        [0x89, b'P', b'N', b'G', ..] => (big(begin.get(16..20)?), big(begin.get(20..24)?)),
        [b'G', b'I', b'F', b'8', ..] => (little(begin.get(6..8)?), little(begin.get(8..10)?)),
        [0xff, 0xd8, ..] => of_jpeg(begin)?,
        [b'R', b'I', b'F', b'F', ..] => match begin.get(12..16)? {
            b"VP8X" => (little(begin.get(24..27)?) + 1, little(begin.get(27..30)?) + 1),
            b"VP8 " => (little(begin.get(26..28)?) & 0x3fff, little(begin.get(28..30)?) & 0x3fff),
            b"VP8L" => {
                let sizes = little(begin.get(21..25)?);
                ((sizes & 0x3fff) + 1, (sizes >> 14 & 0x3fff) + 1)
            }
            _ => return None,
        },
        _ => return None,
    };
    (width > 0 && height > 0).then_some((width, height))
}

/// Finds the size of a JPEG in the segment that describes its frame. An earlier segment may contain the
/// orientation of the camera.
fn of_jpeg(begin: &[u8]) -> Option<(u32, u32)> {
    let (mut at, mut orientation) = (2, Orientation::NoTransforms);
    loop {
        at += begin.get(at..)?.iter().position(|byte| !matches!(byte, 0xff))?;
        let length = big(begin.get(at + 1..at + 3)?) as usize;
        match begin[at] {
            0xe1 => {
                let tiff = begin.get(at + 3..)?.strip_prefix(b"Exif\0\0");
                orientation = tiff.and_then(Orientation::from_exif_chunk).unwrap_or(orientation);
            }
            0xc4 | 0xc8 | 0xcc => (), // tables
            0xc0..=0xcf => {
                let (height, width) = (big(begin.get(at + 4..at + 6)?), big(begin.get(at + 6..at + 8)?));
                return Some(if lies_on_its_side(orientation) { (height, width) } else { (width, height) });
            }
            0xda => return None,
            _ => (),
        }
        at += 1 + length;
    }
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}
