//! The text of the built-in page, and the behaviour of its images.

use super::DemoOptions;
use super::chance::Chance;
use super::scenes::SCENES;
use std::fmt::Write;
use std::net::SocketAddr;
use std::time::Duration;

// ANCHOR: latencies
/// The milliseconds before each image of the book's page is sent; the first image is the slowest.
const LATENCIES: [u64; 8] = [1200, 300, 700, 150, 900, 450, 250, 600];

/// The milliseconds before the advertisement is sent.
const ADVERTISEMENT: u64 = 400;
// ANCHOR_END: latencies

/// The default width and height of an image for which the command line gives no size.
const SIZE: (u32, u32) = (640, 400);

/// The largest number of pixels that an address may request for an image, and the longest side that every
/// format can have.
const MOST_PIXELS: u64 = 30_000_000;
const LONGEST_SIDE: u32 = 16_000;

/// The width of the images on the page, in CSS pixels.
const SHOWN: u32 = 236;

/// An image of the page: how slow, how large, and how broken it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoImage {
    latency: Duration,
    size: (u32, u32),
    fault: Option<Fault>,
}

/// A fault in the answer for an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The server answers with this status.
    Status(u16),
    /// The data end too early.
    Broken,
    /// The answer is HTML and not an image.
    Html,
    /// The image claims billions of pixels.
    Bomb,
    /// The server redirects the address to itself.
    Loop,
    /// The body of the answer never ends.
    Endless,
    /// The server never answers.
    Stall,
    /// The server sends half of the body, and then nothing more.
    Half,
    /// The connection is reset.
    Reset,
}

/// The names of the faults on the command line and in addresses; the name of a status is the number of the
/// status.
const FAULTS: [(&str, Fault); 12] = [
    ("403", Fault::Status(403)),
    ("404", Fault::Status(404)),
    ("500", Fault::Status(500)),
    ("503", Fault::Status(503)),
    ("broken", Fault::Broken),
    ("html", Fault::Html),
    ("bomb", Fault::Bomb),
    ("loop", Fault::Loop),
    ("endless", Fault::Endless),
    ("stall", Fault::Stall),
    ("half", Fault::Half),
    ("reset", Fault::Reset),
];

impl Fault {
    /// Returns the fault with this name.
    pub(super) fn named(name: &str) -> Option<Fault> {
        FAULTS.iter().find(|(known, _)| *known == name).map(|(_, fault)| *fault)
    }

    fn name(self) -> &'static str {
        FAULTS.iter().find(|(_, fault)| *fault == self).map_or("", |(name, _)| name)
    }

    /// Returns whether only the rude listener, which breaks the rules of HTTP, can produce this fault.
    fn is_rude(self) -> bool {
        matches!(self, Fault::Endless | Fault::Stall | Fault::Half | Fault::Reset)
    }
}

/// Parses one image of `--demo-images`: a time, optionally a size and a fault, as in `800ms`,
/// `80ms:404`, `1s:4000x3000:broken`.
///
/// # Errors
/// The error message is a sentence that says which values are allowed.
pub fn demo_image(written: &str) -> Result<DemoImage, String> {
    let mut parts = written.split(':');
    let latency = match parts.next().unwrap_or_default() {
        "0" | "0ms" => Duration::ZERO,
        time => command_line::duration(time)?,
    };
    let mut image = DemoImage { latency, size: SIZE, fault: None };
    for part in parts {
        if let Some(fault) = Fault::named(part) {
            image.fault = Some(fault);
        } else if let Some(size) = size(part) {
            image.size = size;
        } else {
            let names: Vec<_> = FAULTS.iter().map(|(name, _)| *name).collect();
            return Err(format!("{part:?} is no size such as 640x400 and none of {}", names.join(", ")));
        }
    }
    Ok(image)
}

fn size(written: &str) -> Option<(u32, u32)> {
    let (width, height) = written.split_once('x')?;
    let (width, height): (u32, u32) = (width.parse().ok()?, height.parse().ok()?);
    let pixels = u64::from(width) * u64::from(height);
    ((1..=MOST_PIXELS).contains(&pixels) && width.max(height) <= LONGEST_SIDE).then_some((width, height))
}

/// Returns the images of the page, and its advertisement.
fn images(options: &DemoOptions) -> (Vec<DemoImage>, DemoImage) {
    let slow = |ms| DemoImage { latency: Duration::from_millis(ms), size: SIZE, fault: None };
    let (images, advertisement) = match options.seed {
        None => (LATENCIES.map(slow).to_vec(), slow(ADVERTISEMENT)),
        Some(seed) => {
            let mut chance = Chance::new(seed);
            let images = LATENCIES.map(|_| by_chance(&mut chance)).to_vec();
            (images, slow(chance.latency()))
        }
    };
    let images = if options.images.is_empty() { images } else { options.images.clone() };
    (images, options.advertisement.clone().unwrap_or(advertisement))
}

/// Returns a random image. One image in eight is broken.
fn by_chance(chance: &mut Chance) -> DemoImage {
    let latency = Duration::from_millis(chance.latency());
    let size =
        [(640, 400), (320, 200), (1280, 800), (400, 640)][usize::try_from(chance.below(4)).unwrap_or(0)];
    let faults = [Fault::Status(404), Fault::Broken, Fault::Reset, Fault::Status(500)];
    let fault = (chance.below(8) == 0).then(|| faults[usize::try_from(chance.below(4)).unwrap_or(0)]);
    DemoImage { latency, size, fault }
}

/// Returns the page as HTML. The listener at the address `rude` serves the images whose answers break the
/// rules of HTTP.
pub(super) fn html(options: &DemoOptions, rude: SocketAddr) -> String {
    let (images, advertisement) = images(options);
    let mut html = String::from(BEGIN);
    for (number, image) in images.iter().enumerate() {
        let scene = &SCENES[number % SCENES.len()];
        let _ = write!(html, "{}", tag(image, scene.path, scene.alt, "", rude));
    }
    html.push_str(MIDDLE);
    html.push_str(&tag(
        &advertisement,
        "/advertisement.png",
        "Advertisement",
        " class=\"advertisement\"",
        rude,
    ));
    html.push_str(END);
    html
}

fn tag(image: &DemoImage, path: &str, alt: &str, class: &str, rude: SocketAddr) -> String {
    let DemoImage { latency, size: (width, height), fault } = image;
    let server = if fault.is_some_and(Fault::is_rude) { format!("http://{rude}") } else { String::new() };
    let fault = fault.map_or(String::new(), |fault| format!("&amp;fault={}", fault.name()));
    let shown = u64::from(SHOWN) * u64::from(*height) / u64::from(*width);
    format!(
        "<img src=\"{server}{path}?ms={}&amp;size={width}x{height}{fault}\" alt=\"{alt}\" width=\"{SHOWN}\" \
         height=\"{}\"{class}>\n",
        latency.as_millis(),
        shown.clamp(20, 400),
    )
}

/// Returns the size that the query of an address asks for.
pub(super) fn size_of(query: Option<&str>) -> (u32, u32) {
    query.and_then(size).unwrap_or(SIZE)
}

const BEGIN: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>Eight places to go slowly</title>
<h1>Eight places to go slowly</h1>
<p>Some places are best reached by the <em>second</em> train of the day. The first one is full of people who have to be
somewhere; the second one has window seats, and a conductor who has time to say what the hills are called. What follows is a
list of eight such places. The pictures come from eight cameras, and some of those stand at the end of a <strong>long</strong>
wire.</p>
";

const MIDDLE: &str = "<h2>Before you leave</h2>
<ul>
<li>Take a book that you can put down.</li>
<li>Ask for the slow connection: it stops at the lake.</li>
<li>The harbour is to be seen from above, and in the evening.</li>
</ul>
<p>Those who cannot wait will find all of it in the <a href=\"/companies.txt\">offers</a> of ten companies, some of which answer
within the hour.</p>
";

const END: &str = "<blockquote>Whoever arrives first has to unlock the door.</blockquote>
<p>Thanks to the keepers of the lighthouse, who let the camera stand in their kitchen.</p>
</html>
";
