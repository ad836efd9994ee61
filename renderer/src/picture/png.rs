//! Decodes the pixels of a PNG file and ignores everything else in the file.
//!
//! A few compressed bytes can unpack to a colour profile of gigabytes, but the program needs no
//! profile. So the decoder skips profiles and texts.

use super::{ImageLimits, Stored, Watched, allowed};
use crate::gap::Gap;
use executor::CancelToken;
use image::DynamicImage;
use image::metadata::Orientation;
use png::{Decoder, DecodingError, Limits, Transformations};
use std::io::ErrorKind;

/// The longest side that an image may have. The decoder keeps a few rows in addition to the
/// picture.
const LONGEST_SIDE: u32 = 1 << 16;

/// How many bytes the decoder may keep in addition to the pixels: a few rows, and camera data
/// (`eXIf`).
const BESIDE_PIXELS: usize = 16 << 20;

/// Decodes the first picture, with eight bits for each channel and with all channels of the file.
pub(super) fn decode(bytes: &[u8], limits: &ImageLimits, token: &CancelToken) -> Result<Stored, Gap> {
    let mut decoder = Decoder::new_with_limits(Watched::new(bytes, token), Limits { bytes: BESIDE_PIXELS });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_transformations(Transformations::normalize_to_color8());
    let (width, height) = decoder.read_header_info().map_err(why)?.size();
    allowed((width, height), limits)?;
    if width.max(height) > LONGEST_SIDE {
        return Err(Gap::NotAnImage(format!("it has a side of more than {LONGEST_SIDE} pixels")));
    }
    let mut reader = decoder.read_info().map_err(why)?;
    let orientation = reader.info().exif_metadata.as_deref().and_then(Orientation::from_exif_chunk);
    let channels = reader.output_color_type().0.samples();
    let mut pixels = vec![0; width as usize * channels * height as usize];
    reader.next_frame(&mut pixels).map_err(why)?;
    let image = match channels {
        1 => image::GrayImage::from_raw(width, height, pixels).map(DynamicImage::ImageLuma8),
        2 => image::GrayAlphaImage::from_raw(width, height, pixels).map(DynamicImage::ImageLumaA8),
        3 => image::RgbImage::from_raw(width, height, pixels).map(DynamicImage::ImageRgb8),
        _ => image::RgbaImage::from_raw(width, height, pixels).map(DynamicImage::ImageRgba8),
    };
    let orientation = orientation.unwrap_or(Orientation::NoTransforms);
    Ok((image.expect("as many bytes as pixels need"), orientation))
}

fn why(error: DecodingError) -> Gap {
    Gap::NotAnImage(match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            "it ends too early".to_owned()
        }
        DecodingError::LimitsExceeded => "it needs more memory than is allowed".to_owned(),
        other => other.to_string(),
    })
}
