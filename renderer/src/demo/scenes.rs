//! The demo images: landscapes of gradients and waves. The images look so different that a reader can tell
//! them apart at a glance.

use image::{DynamicImage, ImageFormat, RgbImage};
use std::collections::HashMap;
use std::io::Cursor;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tiny_skia::{
    Color, FillRule, GradientStop, LinearGradient, Paint, PathBuilder, Pixmap, Point, Rect, SpreadMode,
    Transform,
};

/// How many encoded images are kept, so that a second request is fast. If the next image would exceed this
/// number, all kept images are dropped first.
const KEPT: usize = 64;

/// A landscape.
pub(super) struct Scene {
    pub(super) path: &'static str,
    pub(super) alt: &'static str,
    /// The colours of the sky at the top and at the horizon, the colour of the sun, and the colours
    /// of the hills from far to near.
    colours: [u32; 6],
    /// The position of the sun, in hundredths of the picture's width and height.
    sun: (f32, f32),
    /// The height of the hills, and the number of hills across the picture.
    hills: (f32, f32),
}

pub(super) const SCENES: [Scene; 8] = [
    scene(
        "/harbour.png",
        "The harbour in the evening",
        [0x27_3a66, 0xf3_9c6b, 0xff_e1a8, 0x5b_4a72, 0x36_3459, 0x1c_2340],
        (70.0, 52.0),
        (0.10, 5.0),
    ),
    scene(
        "/mountains.jpg",
        "Mountains before noon",
        [0x5d_9bd5, 0xdc_eefb, 0xff_fdf0, 0x9a_b3cc, 0x5f_7f9e, 0x2f_4a63],
        (22.0, 20.0),
        (0.42, 2.3),
    ),
    scene(
        "/desert.gif",
        "The desert, from the train",
        [0xf7_c873, 0xfd_ecc8, 0xff_ffff, 0xe0_a458, 0xc9_8236, 0x9c_5a1f],
        (50.0, 24.0),
        (0.16, 1.4),
    ),
    scene(
        "/forest.webp",
        "The forest after rain",
        [0x8f_b8a8, 0xe4_efe6, 0xf4_f7e4, 0x5b_8c6a, 0x2f_6b47, 0x17_4a2e],
        (80.0, 18.0),
        (0.24, 9.0),
    ),
    scene(
        "/skyline.png",
        "The town at night",
        [0x0b_1033, 0x3b_2f63, 0xf2_f0d0, 0x2a_2850, 0x1a_1a3a, 0x0c_0d22],
        (26.0, 22.0),
        (0.30, 14.0),
    ),
    scene(
        "/lighthouse.jpg",
        "From the lighthouse",
        [0x2e_86ab, 0xa9_d6e5, 0xff_f3b0, 0x4f_9fbe, 0x1f_6f8b, 0x0e_4c63],
        (60.0, 30.0),
        (0.05, 3.0),
    ),
    scene(
        "/river.webp",
        "The river in May",
        [0xa3_d5ff, 0xf2_fbff, 0xff_f7c2, 0xa8_cf6e, 0x72_ab3f, 0x3b_7d23],
        (40.0, 22.0),
        (0.18, 3.4),
    ),
    scene(
        "/meadow.png",
        "The meadow behind the station",
        [0xff_9a76, 0xff_e3b3, 0xff_fbe6, 0xb8_b05a, 0x8f_9a3b, 0x5c_7429],
        (16.0, 40.0),
        (0.12, 2.0),
    ),
];

/// The landscape for every path that is not in the list.
const OTHER: Scene = scene(
    "",
    "",
    [0xf6_e05e, 0xfd_f6cf, 0xe5_3e3e, 0xed_8936, 0xdd_6b20, 0xc0_5621],
    (50.0, 45.0),
    (0.20, 6.0),
);

const fn scene(
    path: &'static str,
    alt: &'static str,
    colours: [u32; 6],
    sun: (f32, f32),
    hills: (f32, f32),
) -> Scene {
    Scene { path, alt, colours, sun, hills }
}

/// Returns the media type for the extension of a path.
pub(super) fn media_type(path: &str) -> &'static str {
    format(path).to_mime_type()
}

fn format(path: &str) -> ImageFormat {
    ImageFormat::from_path(path).unwrap_or(ImageFormat::Png)
}

/// Returns the image at a path, in the given size; the extension of the path decides the format.
pub(super) fn encoded(path: &'static str, size: (u32, u32)) -> Arc<[u8]> {
    type Kept = Mutex<HashMap<(&'static str, u32, u32), Arc<[u8]>>>;
    static IMAGES: LazyLock<Kept> = LazyLock::new(Mutex::default);
    let key = (path, size.0, size.1);
    if let Some(image) = IMAGES.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Arc::clone(image);
    }
    let scene = SCENES.iter().find(|scene| scene.path == path).unwrap_or(&OTHER);
    let rgb: Vec<u8> =
        draw(scene, size).data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let picture = RgbImage::from_raw(size.0, size.1, rgb).expect("as many pixels as the picture has");
    let image: Arc<[u8]> = encode(picture, format(path)).expect("a Vec takes everything").into();
    let mut images = IMAGES.lock().unwrap_or_else(PoisonError::into_inner);
    if images.len() >= KEPT {
        images.clear();
    }
    images.insert(key, Arc::clone(&image));
    image
}

fn encode(picture: RgbImage, format: ImageFormat) -> image::ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    if format == ImageFormat::Gif {
        let frame = image::Frame::new(DynamicImage::ImageRgb8(picture).into_rgba8());
        image::codecs::gif::GifEncoder::new_with_speed(&mut bytes, 30).encode_frame(frame)?; // chooses colours fastest
    } else {
        picture.write_to(&mut Cursor::new(&mut bytes), format)?;
    }
    Ok(bytes)
}

/// Returns a small PNG that claims a size of 60 000 times 60 000 pixels.
pub(super) fn bomb() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 60_000, 60_000);
    encoder.set_depth(png::BitDepth::One);
    let written =
        encoder.write_header().and_then(|mut writer| writer.write_chunk(png::chunk::IDAT, &[0x78, 0x9c]));
    written.expect("a Vec takes everything"); // the beginning of the pixels; the rest is missing
    bytes
}

fn draw(scene: &Scene, (width, height): (u32, u32)) -> Pixmap {
    let mut picture = Pixmap::new(width, height).expect("a size that was looked at");
    let (w, h) = (width as f32, height as f32);
    let [above, horizon, sun, hills @ ..] = scene.colours;
    if let Some(sky) = LinearGradient::new(
        Point::from_xy(0.0, 0.0),
        Point::from_xy(0.0, h * 0.75),
        vec![GradientStop::new(0.0, colour(above)), GradientStop::new(1.0, colour(horizon))],
        SpreadMode::Pad,
        Transform::identity(),
    ) {
        let paint = Paint { shader: sky, anti_alias: false, ..Paint::default() };
        if let Some(whole) = Rect::from_xywh(0.0, 0.0, w, h) {
            picture.fill_rect(whole, &paint, Transform::identity(), None);
        }
    }
    let (x, y) = (scene.sun.0 / 100.0 * w, scene.sun.1 / 100.0 * h);
    if let Some(disc) = PathBuilder::from_circle(x, y, h * 0.09) {
        picture.fill_path(&disc, &solid(sun), FillRule::Winding, Transform::identity(), None);
    }
    for (depth, hill) in hills.into_iter().enumerate() {
        let depth = depth as f32;
        let base = h * (0.58 + 0.14 * depth);
        let mut outline = PathBuilder::new();
        outline.move_to(0.0, h);
        for step in 0_u16..=48 {
            let at = f32::from(step) / 48.0;
            let turn = at * scene.hills.1 * std::f32::consts::PI + depth * 1.9;
            let wave = 0.6 * turn.sin() + 0.4 * (2.3 * turn + depth).sin();
            outline.line_to(at * w, base - h * scene.hills.0 * wave * (1.0 - 0.2 * depth));
        }
        outline.line_to(w, h);
        outline.close();
        if let Some(outline) = outline.finish() {
            picture.fill_path(&outline, &solid(hill), FillRule::Winding, Transform::identity(), None);
        }
    }
    picture
}

fn solid(rgb: u32) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(colour(rgb));
    paint
}

fn colour(rgb: u32) -> Color {
    let [_, red, green, blue] = rgb.to_be_bytes();
    Color::from_rgba8(red, green, blue, 255)
}
