//! Images: from bytes to pixels, under limits.
//!
//! An image comes from a stranger. A few hundred bytes can say that they are a billion pixels, so what a header says is looked at
//! before room is made for it. Decoding has no time limit of its own; but it reads its bytes through a [reader](Watched) that
//! looks at a token, so it ends soon after the token does.

use crate::gap::Gap;
use executor::{CancelToken, Cancelled};
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom};
use tiny_skia::Pixmap;

/// Bytes that are decoded before the token is looked at again.
const PIECE: usize = 16 << 10;

/// How far from its end a JPEG may say that it ends. Decoders make a grey area of what is missing.
const TAIL: usize = 1024;

/// What a decoder may allocate for each pixel that is allowed: sixteen bits for each of four channels, twice.
const BYTES_PER_PIXEL: u64 = 16;

/// A decoded image: pixels, ready to be painted.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub(crate) pixels: Pixmap,
}

/// What an image may take.
#[derive(Debug, Clone, Copy)]
pub struct ImageLimits {
    /// Bytes as they are fetched.
    pub bytes: u64,
    /// Pixels as they are decoded.
    pub pixels: u64,
}

impl Picture {
    /// A picture of pixels: red, green, blue and alpha, a byte each, row by row. `None` if their number does not fit, or is
    /// zero.
    pub fn from_rgba(width: u32, height: u32, rgba: &[u8]) -> Option<Picture> {
        let mut pixels = Pixmap::new(width, height)?;
        if pixels.data().len() != rgba.len() {
            return None;
        }
        for (pixel, from) in pixels.pixels_mut().iter_mut().zip(rgba.chunks_exact(4)) {
            *pixel = tiny_skia::ColorU8::from_rgba(from[0], from[1], from[2], from[3]).premultiply();
        }
        Some(Picture { pixels })
    }

    /// Its width in pixels.
    pub fn width(&self) -> u32 {
        self.pixels.width()
    }

    /// Its height in pixels.
    pub fn height(&self) -> u32 {
        self.pixels.height()
    }
}

/// Decodes the first picture of an image and scales it down to fit `width` × `height` pixels, its shape kept. A smaller
/// one keeps its size.
///
/// # Errors
/// `Ok(Err(gap))` if the bytes are no image or one beyond the limits; `Err(Cancelled)` if the token was cancelled meanwhile.
pub fn decode(
    bytes: &[u8],
    limits: &ImageLimits,
    (width, height): (u32, u32),
    token: &CancelToken,
) -> Result<Result<Picture, Gap>, Cancelled> {
    token.check()?;
    let decoded = match decode_whole(bytes, limits, token) {
        Ok(decoded) => decoded,
        Err(gap) => return token.check().map(|()| Err(gap)), // a token that ends the reading looks like a broken image
    };
    token.check()?;
    let fitting = if decoded.width() > width || decoded.height() > height {
        decoded.resize(width.max(1), height.max(1), FilterType::Triangle)
    } else {
        decoded
    };
    let rgba = fitting.into_rgba8();
    let picture = Picture::from_rgba(rgba.width(), rgba.height(), &rgba);
    Ok(picture.ok_or_else(|| Gap::NotAnImage("it has no pixels".to_owned())))
}

fn decode_whole(bytes: &[u8], limits: &ImageLimits, token: &CancelToken) -> Result<DynamicImage, Gap> {
    let open = || {
        let reader = Watched { bytes: Cursor::new(bytes), token };
        ImageReader::new(reader).with_guessed_format().map_err(|error| Gap::NotAnImage(error.to_string()))
    };
    let reader = open()?;
    match reader.format() {
        None => return Err(Gap::NotAnImage("its format is unknown".to_owned())),
        Some(ImageFormat::Jpeg) if !says_its_end(bytes) => {
            return Err(Gap::NotAnImage("it ends too early".to_owned()));
        }
        Some(_) => (),
    }
    let (width, height) = reader.into_dimensions().map_err(|error| why(&error))?;
    let pixels = u64::from(width) * u64::from(height);
    if pixels > limits.pixels {
        return Err(Gap::TooManyPixels { pixels, limit: limits.pixels });
    }
    // Said to the reader and not to the decoder: that of PNG looks at it no more once it has been made.
    let mut allowed = Limits::no_limits();
    allowed.max_alloc = Some(limits.pixels.saturating_mul(BYTES_PER_PIXEL));
    let mut reader = open()?;
    reader.limits(allowed);
    let mut decoder = reader.into_decoder().map_err(|error| why(&error))?;
    let orientation = decoder.orientation().unwrap_or(image::metadata::Orientation::NoTransforms);
    let mut whole = DynamicImage::from_decoder(decoder).map_err(|error| why(&error))?;
    whole.apply_orientation(orientation);
    Ok(whole)
}

/// Whether a JPEG has come to its end: the marker that all of them end with.
fn says_its_end(bytes: &[u8]) -> bool {
    bytes[bytes.len().saturating_sub(TAIL)..].windows(2).any(|two| two == [0xff, 0xd9])
}

fn why(error: &ImageError) -> Gap {
    Gap::NotAnImage(match error {
        ImageError::Limits(_) => "it needs more memory than is allowed".to_owned(),
        ImageError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "it ends too early".to_owned()
        }
        ImageError::Unsupported(_) => "its format is not supported".to_owned(),
        other => other.to_string(),
    })
}

/// Bytes that end with an error when the token has been cancelled.
struct Watched<'a> {
    bytes: Cursor<&'a [u8]>,
    token: &'a CancelToken,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.token.check()?;
        let count = buffer.len().min(PIECE);
        self.bytes.read(&mut buffer[..count])
    }
}

impl BufRead for Watched<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.token.check()?;
        let rest = self.bytes.fill_buf()?;
        Ok(&rest[..rest.len().min(PIECE)])
    }

    fn consume(&mut self, count: usize) {
        self.bytes.consume(count);
    }
}

impl Seek for Watched<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}
