//! Decodes images from bytes to pixels, within limits.
//!
//! Images come from unknown sources. A few hundred bytes can claim to be a billion pixels, so this module
//! checks the claim before it allocates memory. Decoding itself has no time limit. But each decoder reads its
//! bytes through a [reader](Watched) that checks a token. So a decoder that alternately reads and writes ends
//! soon after the token is cancelled. The decoders of JPEG and WebP first read the whole file; after that,
//! their work for each pixel is bounded.

use crate::gap::Gap;
use executor::{CancelToken, Cancelled};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use std::borrow::Cow;
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom};
use tiny_skia::Pixmap;

mod claims; // checks of what files claim
mod png; // the format whose files can unpack to most data
mod size; // the size at the beginning of a file
pub(crate) use size::size;

/// How many bytes are decoded between two checks of the token.
const PIECE: usize = 16 << 10;

/// How many bytes a decoder may allocate for each allowed pixel, in addition to the picture: it needs them
/// for a frame of an animation.
const BYTES_PER_PIXEL: u64 = 4;

/// How many times a decoder may process all allowed pixels. The JPEG files that common encoders write need
/// about ten passes.
const PASSES: u64 = 20;

/// The largest number of pixels that one step scales down to one pixel; it is limited because the scaler uses
/// 32-bit sums. A larger image is first scaled down to at most 256 × 256 pixels.
const MOST_SUMMED: u64 = 1 << 23;
const HALFWAY: u32 = 256;

/// A decoded image, as pixels that can be painted.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub(crate) pixels: Pixmap,
}

/// The limits for an image.
#[derive(Debug, Clone, Copy)]
pub struct ImageLimits {
    /// The largest number of fetched bytes.
    pub bytes: u64,
    /// The largest number of decoded pixels.
    pub pixels: u64,
}

impl Picture {
    /// Makes a picture from pixels, row by row; each pixel has four bytes, for red, green, blue and alpha.
    /// Returns `None` if the number of pixels is zero or does not match the size.
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

    /// Returns the picture, scaled down if necessary, for a place of this size. If the picture is more than
    /// twice as large as the place, it is scaled down, because for each pixel of the place, painting reads
    /// only four pixels of the picture.
    pub(crate) fn fitting(&self, width: u32, height: u32) -> Cow<'_, Picture> {
        if self.width() <= width.saturating_mul(2) && self.height() <= height.saturating_mul(2) {
            return Cow::Borrowed(self);
        }
        let (own_width, own_height) = (self.width(), self.height());
        let rgba = image::RgbaImage::from_raw(own_width, own_height, self.pixels.data().to_vec());
        let scaled = fitted(rgba.expect("as many bytes as pixels need").into(), width, height).into_rgba8();
        let size = tiny_skia::IntSize::from_wh(scaled.width(), scaled.height()).expect("it has pixels");
        Cow::Owned(Picture {
            pixels: Pixmap::from_vec(scaled.into_raw(), size).expect("as many bytes as pixels need"),
        })
    }

    /// Returns the width of the picture in pixels.
    pub fn width(&self) -> u32 {
        self.pixels.width()
    }

    /// Returns the height of the picture in pixels.
    pub fn height(&self) -> u32 {
        self.pixels.height()
    }
}

/// Decodes the first picture of an image and scales it down to fit into `width` × `height` pixels, without
/// changing its proportions. A smaller picture keeps its size.
///
/// # Errors
/// Returns `Ok(Err(gap))` if the bytes are not an image, or if the image exceeds the limits. Returns
/// `Err(Cancelled)` if the token is cancelled before the decoding has ended.
pub fn decode(
    bytes: &[u8],
    limits: &ImageLimits,
    (width, height): (u32, u32),
    token: &CancelToken,
) -> Result<Result<Picture, Gap>, Cancelled> {
    token.check()?;
    let (decoded, orientation) = match decode_whole(bytes, limits, token) {
        Ok(decoded) => decoded,
        Err(gap) => return token.check().map(|()| Err(gap)), // a cancelled token looks like a broken image
    };
    token.check()?;
    // The image is scaled before it is rotated, so the program does not make a second picture of the full
    // size.
    let (width, height) = if lies_on_its_side(orientation) { (height, width) } else { (width, height) };
    let mut fitting = fitted(decoded, width, height);
    fitting.apply_orientation(orientation);
    let rgba = fitting.into_rgba8();
    let picture = Picture::from_rgba(rgba.width(), rgba.height(), &rgba);
    Ok(picture.ok_or_else(|| Gap::NotAnImage("it has no pixels".to_owned())))
}

/// Scales an image down to this size, if the image is larger. The function allocates only the result.
fn fitted(image: DynamicImage, width: u32, height: u32) -> DynamicImage {
    let (width, height) = (width.max(1), height.max(1));
    let shrink = (u64::from(image.width() / width) + 1) * (u64::from(image.height() / height) + 1);
    if shrink > MOST_SUMMED && width.max(height) < HALFWAY {
        return fitted(fitted(image, HALFWAY, HALFWAY), width, height);
    }
    if image.width() > width || image.height() > height { image.thumbnail(width, height) } else { image }
}

/// An image as it is stored, and the rotation that it needs.
type Stored = (DynamicImage, Orientation);

fn decode_whole(bytes: &[u8], limits: &ImageLimits, token: &CancelToken) -> Result<Stored, Gap> {
    let bytes = &*claims::with_colours(bytes);
    let open = |format| ImageReader::with_format(Watched::new(bytes, token), format);
    let format = match image::guess_format(bytes) {
        Ok(ImageFormat::Png) => return png::decode(bytes, limits, token),
        Ok(format) => format,
        Err(_) => return Err(Gap::NotAnImage("its format is unknown".to_owned())),
    };
    let passes = match format {
        ImageFormat::Jpeg => claims::passes(bytes)?,
        ImageFormat::WebP => claims::check_parts(bytes, limits).map(|()| 1)?,
        _ => 1,
    };
    let (width, height) = open(format).into_dimensions().map_err(|error| why(&error))?;
    let pixels = allowed((width, height), limits)?;
    if passes.saturating_mul(pixels) > PASSES.saturating_mul(limits.pixels) {
        return Err(Gap::NotAnImage(format!("its {passes} scans take more time than is allowed")));
    }
    let mut beside = Limits::no_limits();
    beside.max_alloc = Some(limits.pixels.saturating_mul(BYTES_PER_PIXEL));
    let mut reader = open(format);
    reader.limits(beside);
    let mut decoder = reader.into_decoder().map_err(|error| why(&error))?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let whole = DynamicImage::from_decoder(decoder).map_err(|error| why(&error))?;
    Ok((whole, orientation))
}

/// Returns the number of pixels of an image with this size, if the limits allow this number.
fn allowed((width, height): (u32, u32), limits: &ImageLimits) -> Result<u64, Gap> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels > limits.pixels { Err(Gap::TooManyPixels { pixels, limit: limits.pixels }) } else { Ok(pixels) }
}

/// Returns whether a rotation exchanges an image's width and height.
fn lies_on_its_side(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate90FlipH | Rotate270 | Rotate270FlipH)
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

/// A reader of bytes that fails after the token has been cancelled.
struct Watched<'a> {
    bytes: Cursor<&'a [u8]>,
    token: &'a CancelToken,
}

impl<'a> Watched<'a> {
    fn new(bytes: &'a [u8], token: &'a CancelToken) -> Watched<'a> {
        Watched { bytes: Cursor::new(bytes), token }
    }
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
