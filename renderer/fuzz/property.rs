//! Checks properties of the page that is parsed from an input.
//!
//! 1. Nothing panics.
//! 2. The page never has more elements or text than the limits allow, and no block is so long that its
//!    layout takes forever.
//! 3. The place of an image is its index, and each styled part of a text begins and ends between two
//!    characters.
//! 4. A page that was fetched over the network never shows a local file.
//! 5. The page can be laid out, and painted with a gap for every image; the picture does not exceed its size
//!    limit.

use renderer::layout::LayoutOptions;
use renderer::page::{PageLimits, Source, TextKind, Viewport};
use renderer::{Canvas, Element, ImageRef, Layout, Page, TextBlock};
use url::Url;

/// The greatest allowed length of a block, in bytes.
const LONGEST_BLOCK: usize = 40 << 10;

/// The size of the picture in pixels: narrow, so that words must be broken, and short, so that pages are
/// cut off.
const PIXELS: u64 = 30_000;

/// Two sets of limits: any small page is within the first set, and even small inputs exceed the second set.
pub(crate) fn all_limits() -> [PageLimits; 2] {
    [
        PageLimits { elements: 20_000, text: 4 << 20, viewport: Viewport::USUAL },
        PageLimits { elements: 5, text: 60, viewport: Viewport::USUAL },
    ]
}

/// Panics unless the properties hold for `bytes`.
pub(crate) fn check(bytes: &[u8], limits: PageLimits) {
    for (content_type, base) in [
        (Some("text/html"), "http://h.example/dir/page"),
        (None, "file:///srv/page.html"),
        (Some("text/plain"), "http://h.example/"),
    ] {
        let base = Url::parse(base).unwrap();
        if let Ok(page) = Page::parse(bytes, content_type, &base, limits) {
            check_page(&page, &base, limits);
            if content_type == Some("text/html") {
                check_picture(&page);
            }
        }
    }
}

fn check_page(page: &Page, base: &Url, limits: PageLimits) {
    assert!(page.elements.len() <= limits.elements, "{} elements", page.elements.len());
    assert!(page.title.as_ref().is_none_or(|title| title.len() <= LONGEST_BLOCK));
    let mut text = 0;
    for (place, element) in page.elements.iter().enumerate() {
        match element {
            Element::Text(block) => {
                check_block(block);
                for (number, (at, image)) in block.images.iter().enumerate() {
                    assert!(block.text.is_char_boundary(*at), "in a character of {block:?}");
                    assert_eq!(*image, place + 1 + number, "the images follow their text");
                    assert!(matches!(page.elements[*image], Element::Image(_)), "{image} of {block:?}");
                }
                text += block.text.len();
            }
            Element::Image(image) => {
                assert_eq!(image.place, place);
                check_image(image, base);
            }
        }
    }
    assert!(text <= limits.text, "{text} bytes of text");
}

fn check_picture(page: &Page) {
    let options = LayoutOptions { width: 200, scale: 0.5, font: None, max_pixels: PIXELS };
    let mut canvas = Canvas::new(Layout::new(page, &options).expect("the fonts of the program"));
    for (place, element) in page.elements.iter().enumerate() {
        match element {
            Element::Text(_) => canvas.paint_text(place),
            Element::Image(image) => canvas.paint_gap(place, &image.alt, "a reason"),
        }
    }
    let (width, height, pixels) = canvas.pixels();
    assert!(u64::from(width) * u64::from(height) <= PIXELS);
    assert!(pixels.chunks_exact(4).all(|pixel| pixel[3] == 255), "a pixel is not opaque");
}

fn check_block(block: &TextBlock) {
    assert!(block.text.len() <= LONGEST_BLOCK, "a block of {} bytes", block.text.len());
    assert_eq!(block.text.is_empty(), block.kind == TextKind::Rule, "{block:?}");
    assert!(block.spans.len() <= 200, "{} spans", block.spans.len());
    for (range, _) in &block.spans {
        assert!(range.start < range.end && block.text.get(range.clone()).is_some(), "{range:?} of {block:?}");
    }
    match &block.kind {
        TextKind::Heading(level) => assert!((1..=6).contains(level)),
        TextKind::Item { depth, marker } => assert!((1..=64).contains(depth) && marker.len() < 30),
        _ => (),
    }
}

fn check_image(image: &ImageRef, base: &Url) {
    assert!(image.alt.len() <= 1_000);
    if let Ok(Source::Url(url)) = &image.source {
        let allowed = matches!(url.scheme(), "http" | "https") || url.scheme() == base.scheme();
        assert!(allowed, "{url} on {base}");
    }
}
