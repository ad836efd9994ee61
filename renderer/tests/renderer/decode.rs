//! Decoding: every format, and what is no image or too much of one.

use executor::CancelToken;
use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use renderer::picture::decode;
use renderer::{Gap, ImageLimits, Picture};
use std::io::Cursor;

const LIMITS: ImageLimits = ImageLimits { bytes: 1 << 20, pixels: 1_000_000 };
const ROOM: (u32, u32) = (1000, 1000);

fn decoded(bytes: &[u8], room: (u32, u32)) -> Result<Picture, Gap> {
    decode(bytes, &LIMITS, room, &CancelToken::new()).expect("nobody cancels")
}

/// A picture whose quarters have four colours.
fn quarters(width: u32, height: u32) -> DynamicImage {
    let colour = |x, y| match (x < width / 2, y < height / 2) {
        (true, true) => Rgba([250, 10, 10, 255]),
        (false, true) => Rgba([10, 250, 10, 255]),
        (true, false) => Rgba([10, 10, 250, 255]),
        (false, false) => Rgba([240, 240, 20, 255]),
    };
    DynamicImage::ImageRgba8(RgbaImage::from_fn(width, height, colour))
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let image =
        if format == ImageFormat::Jpeg { DynamicImage::ImageRgb8(image.to_rgb8()) } else { image.clone() };
    image.write_to(&mut bytes, format).expect("a small picture");
    bytes.into_inner()
}

#[test]
fn every_format_is_known_by_its_content() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
        let picture = decoded(&encoded(&quarters(40, 20), format), ROOM).unwrap();
        assert_eq!((picture.width(), picture.height()), (40, 20), "{format:?}");
    }
}

#[test]
fn a_large_image_is_scaled_down_and_keeps_its_shape() {
    let bytes = encoded(&quarters(400, 200), ImageFormat::Png);
    for (room, size) in [
        ((100, 100), (100, 50)),
        ((50, 20), (40, 20)),
        ((1000, 10), (20, 10)),
        ((1, 1), (1, 1)),
        ((0, 0), (1, 1)),
    ] {
        let picture = decoded(&bytes, room).unwrap();
        assert_eq!((picture.width(), picture.height()), size, "in {room:?}");
    }
}

#[test]
fn a_small_image_keeps_its_size() {
    assert_eq!(decoded(&encoded(&quarters(4, 2), ImageFormat::Png), ROOM).unwrap().width(), 4);
}

#[test]
fn bytes_that_are_no_image_say_so() {
    let png = encoded(&quarters(100, 100), ImageFormat::Png);
    let jpeg = encoded(&quarters(100, 100), ImageFormat::Jpeg);
    for bytes in [
        &b""[..],
        b"<p>no image</p>",
        &png[..png.len() / 2],
        &png[..20],
        &jpeg[..20],
        b"GIF89a",
        b"RIFF\x08\0\0\0WEBP",
    ] {
        let gap = decoded(bytes, ROOM).unwrap_err();
        assert!(matches!(gap, Gap::NotAnImage(_)), "{:?}: {gap}", bytes.get(..8));
    }
}

/// What a header says is looked at before there is room for it.
#[test]
fn an_image_that_says_it_is_huge_is_refused_by_its_header() {
    let mut bomb = Vec::new();
    let mut encoder = png::Encoder::new(&mut bomb, 60_000, 60_000);
    encoder.set_depth(png::BitDepth::One);
    encoder.write_header().unwrap().write_chunk(png::chunk::IDAT, &[0x78, 0x9c]).unwrap();
    assert_eq!(
        decoded(&bomb, ROOM).unwrap_err(),
        Gap::TooManyPixels { pixels: 3_600_000_000, limit: LIMITS.pixels }
    );
    let over = encoded(&quarters(1001, 1000), ImageFormat::Png);
    assert!(matches!(decoded(&over, ROOM).unwrap_err(), Gap::TooManyPixels { .. }));
    assert!(decoded(&encoded(&quarters(1000, 1000), ImageFormat::Png), ROOM).is_ok());
}

/// Thirty megabytes of zeros, as a colour profile of thirty kilobytes, for which a picture of so few pixels has no room.
#[test]
fn what_is_packed_beside_the_pixels_has_a_bound_too() {
    let mut packed = flate2::write::ZlibEncoder::new(b"profile\0\0".to_vec(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, &vec![0; 30_000_000]).unwrap();
    let mut bomb = Vec::new();
    let mut encoder = png::Encoder::new(&mut bomb, 4, 4);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_chunk(png::chunk::iCCP, &packed.finish().unwrap()).unwrap();
    writer.write_image_data(&[0; 16]).unwrap();
    writer.finish().unwrap();
    let small = ImageLimits { bytes: 1 << 20, pixels: 1000 };
    let decoded = decode(&bomb, &small, ROOM, &CancelToken::new()).expect("nobody cancels");
    let gap = decoded.map(|picture| picture.width()).unwrap_err();
    assert!(gap.to_string().contains("more memory than is allowed"), "{gap}");
}

#[test]
fn pixels_of_every_kind_become_colours() {
    let one = |image: DynamicImage| decoded(&encoded_as_it_is(&image), ROOM).unwrap();
    let sixteen = image::ImageBuffer::from_pixel(2, 1, image::Rgb([0xffff_u16, 0, 0]));
    let gray = image::ImageBuffer::from_pixel(2, 1, image::Luma([77_u8]));
    let gray_and_alpha = image::ImageBuffer::from_pixel(2, 1, image::LumaA([77_u8, 0]));
    let red = Picture::from_rgba(2, 1, &[255, 0, 0, 255, 255, 0, 0, 255]).unwrap();
    assert_eq!(one(DynamicImage::ImageRgb16(sixteen)), red);
    assert_eq!(
        one(DynamicImage::ImageLuma8(gray)),
        Picture::from_rgba(2, 1, &[77, 77, 77, 255].repeat(2)).unwrap()
    );
    assert_eq!(one(DynamicImage::ImageLumaA8(gray_and_alpha)), Picture::from_rgba(2, 1, &[0; 8]).unwrap());
}

fn encoded_as_it_is(image: &DynamicImage) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).expect("a small picture");
    bytes.into_inner()
}

/// The first frame of several is the picture.
#[test]
fn of_an_animation_the_first_frame_is_shown() {
    let mut bytes = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut bytes);
    for colour in [[255, 0, 0, 255], [0, 0, 255, 255]] {
        encoder.encode_frame(image::Frame::new(RgbaImage::from_pixel(2, 1, Rgba(colour)))).unwrap();
    }
    drop(encoder);
    assert_eq!(
        decoded(&bytes, ROOM).unwrap(),
        Picture::from_rgba(2, 1, &[255, 0, 0, 255].repeat(2)).unwrap()
    );
}

#[test]
fn a_cancelled_token_ends_decoding() {
    let token = CancelToken::new();
    token.cancel();
    assert!(decode(&encoded(&quarters(40, 20), ImageFormat::Png), &LIMITS, ROOM, &token).is_err());
}

#[test]
fn pixels_have_to_fit_the_size() {
    assert!(Picture::from_rgba(2, 2, &[0; 16]).is_some());
    for (width, height, count) in [(2, 2, 15), (0, 2, 0), (2, 0, 0), (u32::MAX, u32::MAX, 4)] {
        assert!(Picture::from_rgba(width, height, &vec![0; count]).is_none(), "{width}×{height}");
    }
}
