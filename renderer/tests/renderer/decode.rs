//! Tests decoding: every format, bytes that are not an image, and images that exceed the limits.

use cpu_time::ThreadTime;
use executor::CancelToken;
use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use renderer::picture::decode;
use renderer::{Gap, ImageLimits, Picture};
use std::io::Cursor;

const LIMITS: ImageLimits = ImageLimits { bytes: 1 << 20, pixels: 1_000_000 };
const ROOM: (u32, u32) = (1000, 1000);

fn decoded(bytes: &[u8], room: (u32, u32)) -> Result<Picture, Gap> {
    decode(bytes, &LIMITS, room, &CancelToken::new()).expect("no test cancels it")
}

/// Returns a picture with four quarters in different colours.
pub(crate) fn quarters(width: u32, height: u32) -> DynamicImage {
    let colour = |x, y| match (x < width / 2, y < height / 2) {
        (true, true) => Rgba([250, 10, 10, 255]),
        (false, true) => Rgba([10, 250, 10, 255]),
        (true, false) => Rgba([10, 10, 250, 255]),
        (false, false) => Rgba([240, 240, 20, 255]),
    };
    DynamicImage::ImageRgba8(RgbaImage::from_fn(width, height, colour))
}

pub(crate) fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
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

/// The decoder checks the size in a header before it allocates memory.
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

/// The decoder does not unpack the colour profile and the text: each of them has thirty kilobytes, and would
/// become thirty megabytes of zeros.
#[test]
fn what_is_packed_beside_the_pixels_is_left_alone() {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 4, 4);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    for kind in [png::chunk::iCCP, png::chunk::zTXt] {
        writer.write_chunk(kind, &packed_zeros(b"name\0\0", 30_000_000)).unwrap();
    }
    writer.write_image_data(&[0; 16]).unwrap();
    writer.finish().unwrap();
    let small = ImageLimits { bytes: 1 << 20, pixels: 1000 };
    let picture = decode(&bytes, &small, ROOM, &CancelToken::new()).expect("no test cancels it");
    assert_eq!(picture.unwrap().width(), 4);
}

/// Compresses `before`, followed by `count` zeros.
fn packed_zeros(before: &[u8], count: usize) -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(before.to_vec(), flate2::Compression::best());
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), count as u64), &mut packed).unwrap();
    packed.finish().unwrap()
}

/// The input is so short that a decoder reads all of its bytes at once, and then only writes the forty
/// million pixels. The test measures the processor time of its own process, so other programs do not matter.
/// Writing all pixels takes a sixth of the processor time, and scaling takes the rest. The test makes several
/// attempts, and passes if one of them ends early: on a slow machine the time limit can pass before the
/// decoder has begun.
#[test]
fn a_deadline_ends_a_decoder_that_writes_and_does_not_read() {
    let (width, height) = (1 << 16, 600_u32);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_depth(png::BitDepth::One);
    let mut writer = encoder.write_header().unwrap();
    let rows = packed_zeros(b"", (width as usize / 8 + 1) * height as usize);
    assert!(rows.len() < 16 << 10, "{}", rows.len());
    writer.write_chunk(png::chunk::IDAT, &rows).unwrap();
    writer.finish().unwrap();
    let large = ImageLimits { bytes: 1 << 20, pixels: u64::from(width * height) };
    let attempt = |token: &CancelToken| {
        let begin = ThreadTime::now();
        (decode(&bytes, &large, (1, 1), token).is_ok(), begin.elapsed())
    };
    let (is_whole, time_of_all) = attempt(&CancelToken::new());
    assert!(is_whole);
    let mut times = (0..20).map(|_| attempt(&CancelToken::new().with_timeout(time_of_all / 40)).1);
    let is_begun_and_not_whole = |time| time > time_of_all / 400 && time < time_of_all / 12;
    assert!(times.any(is_begun_and_not_whole), "no attempt has ended in the middle of {time_of_all:?}");
}

/// Returns a WebP that claims to have one pixel.
fn webp_of_one_pixel(flags: u8, parts: &[(&[u8; 4], u32, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0".to_vec();
    bytes.extend([flags, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for (kind, length, content) in parts {
        bytes.extend([&kind[..], &length.to_le_bytes(), content].concat());
    }
    let length = u32::try_from(bytes.len() - 8).unwrap();
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    bytes
}

#[test]
fn a_frame_that_is_larger_than_its_picture_is_refused_by_its_header() {
    let frame = [&[0x10, 0, 0, 0x9d, 1, 0x2a][..], &16_383_u16.to_le_bytes().repeat(2), &[0; 30]].concat();
    let huge = Gap::TooManyPixels { pixels: 16_383 * 16_383, limit: LIMITS.pixels };
    let webp = webp_of_one_pixel(0, &[(b"VP8 ", 40, frame.clone())]);
    assert_eq!(decoded(&webp, ROOM).unwrap_err(), huge);
    let within = [&[0; 16][..], b"VP8 ", &40_u32.to_le_bytes(), &frame].concat();
    let animated = webp_of_one_pixel(2, &[(b"ANIM", 6, vec![0; 6]), (b"ANMF", 64, within)]);
    assert_eq!(decoded(&animated, ROOM).unwrap_err(), huge);

    // A part of this file claims a length of four gigabytes.
    let webp = webp_of_one_pixel(
        8,
        &[(b"VP8 ", 40, frame[..6].repeat(7)[..40].to_vec()), (b"EXIF", u32::MAX, vec![])],
    );
    assert_eq!(decoded(&webp, ROOM).unwrap_err().to_string(), TOO_EARLY);

    // This file has codes for more pixels than the image has.
    let webp = webp_of_one_pixel(0, &[(b"VP8L", 70_000, vec![0x2f; 70_000])]);
    let gap = decoded(&webp, ROOM).unwrap_err();
    assert!(gap.to_string().contains("more bytes than its pixels need"), "{gap}");

    let screen = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff";
    let frame = b",\0\0\0\0\xe9\x03\xe8\x03\0\x02\x02\x44\x01\0;"; // 1001 × 1000
    let gap = decoded(&[&screen[..], frame].concat(), ROOM).unwrap_err();
    assert!(gap.to_string().contains("more memory than is allowed"), "{gap}");
}

const TOO_EARLY: &str = "no image that can be decoded: it ends too early";

/// The decoder ignores the video that telephones put after the end of a JPEG.
#[test]
fn what_stands_behind_the_end_of_a_jpeg_is_no_part_of_it() {
    let jpeg = encoded(&quarters(64, 48), ImageFormat::Jpeg);
    let alone = decoded(&jpeg, ROOM).unwrap();
    for behind in [vec![0; 5000], b"\0\0\0\x18ftypmp42".repeat(1000), jpeg.clone()] {
        assert!(decoded(&[&jpeg[..], &behind].concat(), ROOM).unwrap() == alone);
    }
    for end in [jpeg.len() - 2, jpeg.len() - 3, jpeg.len() * 3 / 4, 400] {
        assert_eq!(
            decoded(&jpeg[..end], ROOM).unwrap_err().to_string(),
            TOO_EARLY,
            "{end} of {}",
            jpeg.len()
        );
    }
}

/// A preview within a JPEG has its own end marker, but this marker does not end the JPEG.
#[test]
fn the_end_of_a_preview_is_not_the_end_of_a_jpeg() {
    let jpeg = encoded(&quarters(64, 48), ImageFormat::Jpeg);
    let with_preview = with_segment(&jpeg, 0xe1, &encoded(&quarters(8, 8), ImageFormat::Jpeg));
    assert!(decoded(&with_preview, ROOM).is_ok());
    assert_eq!(decoded(&with_preview[..with_preview.len() - 4], ROOM).unwrap_err().to_string(), TOO_EARLY);
}

/// Adds one segment at the beginning of a JPEG.
pub(crate) fn with_segment(jpeg: &[u8], kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len() + 2).unwrap().to_be_bytes();
    [&jpeg[..2], &[0xff, kind], &length, content, &jpeg[2..]].concat()
}

#[test]
fn a_jpeg_that_goes_over_its_pixels_again_and_again_is_refused() {
    let again = [0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0x10].repeat(30);
    let with_scans = |jpeg: Vec<u8>| [&jpeg[..jpeg.len() - 2], &again, &jpeg[jpeg.len() - 2..]].concat();
    let gap = decoded(&with_scans(encoded(&quarters(1000, 1000), ImageFormat::Jpeg)), ROOM).unwrap_err();
    assert!(gap.to_string().contains("31 scans"), "{gap}");
    assert!(decoded(&with_scans(encoded(&quarters(500, 500), ImageFormat::Jpeg)), ROOM).is_ok());
}

/// If a part of an XMP text were missing, the decoder would take minutes, because it compares each part with
/// all other parts.
#[test]
fn a_jpeg_of_countless_parts_is_refused() {
    let part =
        [b"http://ns.adobe.com/xmp/extension/\0", &[b'0'; 32][..], &[0, 1, 0, 0, 0, 0, 0, 9, b'x']].concat();
    let jpeg = encoded(&quarters(8, 8), ImageFormat::Jpeg);
    let part = &with_segment(&[0xff, 0xd8], 0xe1, &part)[2..];
    let with_parts = |count| [&jpeg[..2], &part.repeat(count), &jpeg[2..]].concat();
    let gap = decoded(&with_parts(2000), ROOM).unwrap_err();
    assert!(gap.to_string().contains("parts, and 1000 are allowed"), "{gap}");
    assert!(decoded(&with_parts(500), ROOM).is_ok());
}

/// The orientation says that the camera was rotated to the right.
#[test]
fn an_image_is_shown_as_the_camera_was_held() {
    let says_so = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let mut png = Vec::new();
    let mut writer = png::Encoder::new(&mut png, 40, 20);
    writer.set_color(png::ColorType::Rgba);
    let mut writer = writer.write_header().unwrap();
    writer.write_chunk(png::chunk::eXIf, says_so).unwrap();
    writer.write_image_data(quarters(40, 20).as_bytes()).unwrap();
    writer.finish().unwrap();
    let jpeg = encoded(&quarters(40, 20), ImageFormat::Jpeg);
    let jpeg = with_segment(&jpeg, 0xe1, &[b"Exif\0\0", &says_so[..]].concat());
    for bytes in [png, jpeg] {
        let turned = decoded(&bytes, ROOM).unwrap();
        assert_eq!((turned.width(), turned.height()), (20, 40));
        let small = decoded(&bytes, (10, 10)).unwrap();
        assert_eq!((small.width(), small.height()), (5, 10));
    }
}

/// The image has two by two pixels, in the order of Adam7.
#[test]
fn the_pixels_of_an_interlaced_png_come_to_their_places() {
    let mut info = png::Info::with_size(2, 2);
    info.color_type = png::ColorType::Grayscale;
    info.interlaced = true;
    let mut bytes = Vec::new();
    let mut writer = png::Encoder::with_info(&mut bytes, info).unwrap().write_header().unwrap();
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, &[0, 10, 0, 20, 0, 30, 40]).unwrap();
    writer.write_chunk(png::chunk::IDAT, &packed.finish().unwrap()).unwrap();
    writer.finish().unwrap();
    let gray: Vec<u8> = [10, 20, 30, 40].iter().flat_map(|gray| [*gray, *gray, *gray, 255]).collect();
    assert_eq!(decoded(&bytes, ROOM).unwrap(), Picture::from_rgba(2, 2, &gray).unwrap());
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

/// If an image has several frames, the program draws the first frame.
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

/// Checks that the program decodes transparent spacers without a colour table; old pages use such spacers to
/// keep table cells open.
#[test]
fn a_gif_without_colours_is_not_to_be_seen() {
    let spacer = b"GIF89a\x01\0\x01\0\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0;";
    assert_eq!(decoded(spacer, ROOM).unwrap(), Picture::from_rgba(1, 1, &[0; 4]).unwrap());
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
