//! Tests how pages are drawn: the pages of `tests/pages`, with the picture of each page in the same
//! directory.
//!
//! `RECORD=1 cargo test --test renderer pictures` draws these pictures again. Check the new pictures
//! before you commit them.

use crate::distance::distance;
use image::RgbaImage;
use renderer::canvas::Canvas;
use renderer::layout::{Layout, LayoutOptions};
use renderer::page::{PageLimits, TextKind, Viewport};
use renderer::{Element, Page, Picture};
use std::fs;
use std::path::{Path, PathBuf};
use url::Url;

const WIDTH: u32 = 640;
const SCALE: f32 = 0.5;

/// A recorded picture shows only the beginning of a page.
const PIXELS: u64 = 320 * 640;

/// The largest distance (out of 255) between two pictures that count as equal.
pub(crate) const SAME: f64 = 4.0;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages")
}

fn is_recording() -> bool {
    std::env::var_os("RECORD").is_some()
}

/// Returns the names of the pages, without their extension.
fn names() -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder())
        .expect("the pages")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".html").map(str::to_owned))
        .collect();
    names.sort_unstable();
    names
}

pub(crate) fn page(name: &str) -> Page {
    let document = fs::read(folder().join(format!("{name}.html"))).expect("the page");
    let base = Url::parse("http://example.org/pages/").expect("an address");
    let limits = PageLimits { elements: 5000, text: 1 << 20, viewport: Viewport::USUAL };
    Page::parse(&document, None, &base, limits).expect("it is a page")
}

/// Makes an image with stripes for a place; the colours of the stripes depend on the place.
pub(crate) fn picture_for(place: usize) -> Picture {
    let hue = u8::try_from(place * 53 % 200).unwrap();
    let rgba = RgbaImage::from_fn(160, 90, |x, y| {
        if (x / 16 + y / 15) % 2 == 0 {
            image::Rgba([hue, 120, 255 - hue, 255])
        } else {
            image::Rgba([255 - hue, 200, hue, 255])
        }
    });
    Picture::from_rgba(160, 90, &rgba).expect("it has pixels")
}

/// Paints a page with all of its text; each image is a picture, a place-holder or a gap.
pub(crate) fn draw(page: &Page) -> Canvas {
    draw_in(page, (0..page.elements.len()).collect())
}

/// Paints the elements of a page in the given order.
fn draw_in(page: &Page, order: Vec<usize>) -> Canvas {
    let options = LayoutOptions { width: WIDTH, scale: SCALE, font: None, max_pixels: PIXELS };
    let mut canvas = Canvas::new(Layout::new(page, &options).expect("the fonts of the program"));
    for place in order {
        match &page.elements[place] {
            Element::Text(_) => canvas.paint_text(place),
            Element::Image(image) => {
                canvas.paint_placeholder(place, &image.alt);
                match &image.source {
                    Err(gap) => canvas.paint_gap(place, &image.alt, &gap.to_string()),
                    Ok(_) if place % 5 == 4 => (),
                    Ok(_) => canvas.paint_image(place, &picture_for(place)),
                }
            }
        }
    }
    canvas
}

#[test]
fn each_page_is_drawn_as_it_was() {
    assert!(names().len() >= 40);
    for name in names() {
        let canvas = draw(&page(&name));
        let path = folder().join(format!("{name}.png"));
        if is_recording() {
            rgba(&canvas).save(&path).unwrap();
            continue;
        }
        let golden =
            image::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).into_rgba8();
        let distance = distance(&rgba(&canvas), &golden);
        assert!(distance < SAME, "{name}.html is drawn in another way: {distance:.1}");
    }
}

#[test]
fn the_order_of_painting_makes_no_difference() {
    let mut random = fastrand::Rng::with_seed(7);
    for name in ["images", "images-in-text", "tables", "right-to-left", "long-catalogue"] {
        let page = page(name);
        let whole = draw(&page).png();
        for _ in 0..4 {
            let mut order: Vec<_> = (0..page.elements.len()).collect();
            random.shuffle(&mut order);
            assert!(draw_in(&page, order).png() == whole, "{name}: another order, another picture");
        }
    }
}

#[test]
fn what_is_painted_again_leaves_nothing_of_what_was_there() {
    let page = page("images");
    let once = draw(&page).png();
    let mut canvas = draw(&page);
    for image in page.images().filter(|image| image.place % 5 != 4) {
        canvas.paint_gap(image.place, "words that are much longer than those before", "a reason");
        canvas.paint_image(image.place, &picture_for(image.place));
    }
    assert!(canvas.png() == once);
}

/// If an image is shown in several sizes, it is loaded in the largest size, and each of its pixels has
/// an effect in the smaller sizes.
#[test]
fn a_picture_that_is_much_larger_than_its_place_is_averaged() {
    let lines = RgbaImage::from_fn(1000, 1000, |x, _| {
        image::Rgba(if x % 10 == 3 { [0, 0, 0, 255] } else { [255; 4] })
    });
    let page = Page::parse(
        b"<img src=x width=200 height=200>",
        Some("text/html"),
        &Url::parse("http://example.org/").unwrap(),
        PageLimits { elements: 10, text: 100, viewport: Viewport::USUAL },
    );
    let mut canvas = draw(&page.unwrap());
    canvas.paint_image(0, &Picture::from_rgba(1000, 1000, &lines).unwrap());
    let area = canvas.layout().area(0).unwrap();
    let drawn = rgba(&canvas);
    for (x, y) in [(0, 0), (33, 50), (71, 20), (98, 98)] {
        let image::Rgba([gray, ..]) = *drawn.get_pixel(area.x + x, area.y + y);
        assert!((220..240).contains(&gray), "{gray} and not nine tenths of 255");
    }
}

/// The text includes letters with stacked accents, which reach into the blocks above and below.
#[test]
fn text_that_is_painted_again_is_as_it_was() {
    let towers = format!("a{} word{}", "\u{301}".repeat(60), "\u{323}".repeat(60));
    let document =
        format!("<p>{towers}<img src=x.png>{towers}<ul><li>{towers}</ul><blockquote>{towers}</blockquote>");
    let base = Url::parse("http://example.org/").unwrap();
    let page = Page::parse(
        document.as_bytes(),
        None,
        &base,
        PageLimits { elements: 100, text: 10_000, viewport: Viewport::USUAL },
    )
    .unwrap();
    let once = draw(&page);
    let mut twice = draw(&page);
    for place in (0..page.elements.len()).rev() {
        twice.paint_text(place);
    }
    assert!(twice.png() == once.png());
    assert!(draw_in(&page, (0..page.elements.len()).rev().collect()).png() == once.png());
}

#[test]
fn no_options_make_a_picture_that_memory_has_no_room_for() {
    let page = text_page("words");
    for (width, scale, max_pixels) in
        [(0, 1.0, 0), (u32::MAX, f32::NAN, u64::MAX), (10, f32::INFINITY, 100), (10_000, -1.0, u64::MAX)]
    {
        let layout = Layout::new(&page, &LayoutOptions { width, scale, font: None, max_pixels })
            .expect("the fonts of the program");
        let (width, height) = layout.size();
        assert!((1..=500_000_000).contains(&(u64::from(width) * u64::from(height))), "{width}×{height}");
    }
}

/// Checks that the comparison of pictures notices the differences that a reader would notice, and no other
/// differences.
#[test]
fn the_distance_tells_swapped_images_a_lost_line_and_a_shift() {
    let page = page("long-catalogue");
    let whole = rgba(&draw(&page));
    assert!(distance(&whole, &whole) < f64::EPSILON);

    // Another machine may round each pixel differently, by at most two levels.
    let mut noisy = whole.clone();
    for (number, byte) in noisy.iter_mut().enumerate().filter(|(number, _)| number % 4 != 3) {
        *byte = if number / 4 % 2 == 0 { byte.saturating_add(2) } else { byte.saturating_sub(2) };
    }
    let of_noise = distance(&whole, &noisy);
    assert!(of_noise < SAME, "noise counts as {of_noise}");

    let mut swapped = draw(&page);
    let images: Vec<_> =
        page.images().filter(|image| image.place % 5 != 4).map(|image| image.place).collect();
    swapped.paint_image(images[0], &picture_for(images[1]));
    swapped.paint_image(images[1], &picture_for(images[0]));
    let of_swapped = distance(&whole, &rgba(&swapped));
    assert!(of_swapped > SAME * 2.0, "swapped images count as {of_swapped}");

    // A page with two lines of text, of which the second is missing.
    let two = |text: &str| rgba(&draw(&text_page(text)));
    let lost = distance(&two("The first line stays.\nThe second is lost."), &two("The first line stays.\n "));
    assert!(lost > SAME * 2.0, "a lost line counts as {lost}");

    for (right, down) in [(8, 0), (0, 8)] {
        let mut shifted = RgbaImage::from_pixel(whole.width(), whole.height(), image::Rgba([255; 4]));
        image::imageops::overlay(&mut shifted, &whole, right, down);
        let distance = distance(&whole, &shifted);
        assert!(distance > SAME * 2.0, "a shift of {right}, {down} counts as {distance}");
    }

    let other_size = RgbaImage::new(whole.width(), whole.height() - 1);
    assert!(distance(&whole, &other_size).is_infinite());
}

fn rgba(canvas: &Canvas) -> RgbaImage {
    let (width, height, pixels) = canvas.pixels();
    RgbaImage::from_raw(width, height, pixels.to_vec()).expect("as many pixels as it says")
}

/// Makes a page that consists of one paragraph.
fn text_page(text: &str) -> Page {
    let block = renderer::TextBlock {
        kind: TextKind::Paragraph,
        text: text.to_owned(),
        spans: vec![],
        images: vec![],
        right_to_left: false,
    };
    Page { title: None, elements: vec![Element::Text(block)], left_out: 0 }
}

/// The time for a page of 100 000 images depends only on those images that fit into the picture.
#[test]
fn a_page_without_end_is_cut_off() {
    let document = "<p>words</p><img src=x.png>".repeat(100_000);
    let base = Url::parse("http://example.org/").unwrap();
    let page = Page::parse(
        document.as_bytes(),
        None,
        &base,
        PageLimits { elements: 20_000, text: 1 << 20, viewport: Viewport::USUAL },
    )
    .unwrap();
    assert_eq!((page.elements.len(), page.left_out), (20_000, 180_000));
    let canvas = draw(&page);
    let (width, height, _) = canvas.pixels();
    assert!(u64::from(width * height) <= PIXELS);
    let shown = (0..20_000).filter(|place| canvas.layout().area(*place).is_some()).count();
    assert_eq!(canvas.layout().cut(), 20_000 - shown);
    assert!((5..200).contains(&shown), "{shown} elements in the picture");
}

#[test]
fn one_word_of_a_mebibyte_is_several_blocks() {
    let page = Page::parse(
        &vec![b'x'; 1 << 20],
        None,
        &Url::parse("http://example.org/").unwrap(),
        PageLimits { elements: 20_000, text: 1 << 20, viewport: Viewport::USUAL },
    );
    let page = page.unwrap();
    assert_eq!(page.elements.len(), 64);
    draw(&page);
}
