//! Tests the places of images for which the page gives no size.

use crate::decode::{encoded, quarters, with_segment};
use crate::drawing::Drawing;
use crate::gated::Gated;
use image::ImageFormat;
use std::fmt::Write;
use std::fs;

/// Returns the width and height of each image's place on a page, without loading an image.
fn places(page: &str) -> Vec<(u32, u32)> {
    Drawing::begin(page, &[], |_| Ok(())).end().expect("laid out").places
}

/// Returns the places of a page's images; the page and its images are files in the same directory.
fn places_on_file(page: &str, files: &[(&str, &[u8])]) -> Vec<(u32, u32)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let path = folder.path().join("page.html");
    fs::write(&path, page).unwrap();
    places(path.to_str().unwrap())
}

#[test]
fn a_file_of_this_machine_says_how_large_it_is() {
    let [png, jpeg, gif, webp] = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP]
        .map(|format| encoded(&quarters(40, 20), format));
    let says_it_was_turned = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let turned = with_segment(&jpeg, 0xe1, says_it_was_turned);
    let large = encoded(&quarters(2000, 500), ImageFormat::Png);
    let files: [(&str, &[u8]); 7] = [
        ("a.png", &png),
        ("b.jpg", &jpeg),
        ("c.gif", &gif),
        ("d.webp", &webp),
        ("turned.jpg", &turned),
        ("large.png", &large),
        ("short", &png[..18]),
    ];
    let page = "<img src=a.png><img src=b.jpg><img src=c.gif><img src=d.webp><img src=turned.jpg><img src=large.png>\
        <img src=a.png width=80><img src=a.png height=80><img src=a.png width=30 height=30><img src=short><img src=no>\
        <img srcset='a.png 2x'><img srcset='large.png 2000w' sizes='100px'>";
    assert_eq!(
        places_on_file(page, &files),
        [
            (40, 20),
            (40, 20),
            (40, 20),
            (40, 20),
            (20, 40),
            (736, 184), // as wide as the column
            (80, 40),
            (160, 80),
            (30, 30),
            (320, 180),
            (320, 180),
            (20, 10),
            (100, 25)
        ]
    );
    let data = png.iter().fold("<img src='data:,".to_owned(), |mut data, byte| {
        write!(data, "%{byte:02x}").unwrap();
        data
    });
    assert_eq!(places_on_file(&(data + "'>"), &[]), [(40, 20)]);
}

/// The layout does not wait for an image from a server: an image in a line of words gets the size of an icon.
#[test]
fn the_page_says_how_large_an_image_from_a_server_is() {
    let server = Gated::start();
    let page = server.page(
        "/",
        "<p>Press <img src=a> to save.<p><img src=b><p><img src=c><br>Below it.<ul><li><img src=d> First</ul>\
         <img src=e style='WIDTH: 11px; height:12px'><img src=f width=50 style='width:60px'><img src=g style='width:50%'>\
         <table><tr><td><img src=h><td>Another cell</table>",
    );
    let (icon, unknown) = ((19, 19), (320, 180));
    assert_eq!(places(&page), [icon, unknown, unknown, icon, (11, 12), (60, 34), unknown, unknown],);
    assert_eq!(server.requests("/a"), 0);
}
