//! The renderer on one thread: it draws the text, then one image after the other.
//!
//! The reader sees the text soon, and then waits for the sum of all latencies: the program requests an image
//! only after it has loaded the previous image. `--in-order` is worse: text below an image also waits for
//! that image.
//!
//! ```sh
//! cargo run --bin sequential                # draws page.png, with the built-in server's page
//! cargo run --bin sequential -- --in-order
//! ```
//!
//! The chapter "One thing after the other" of the book explains this program.

use clap::Parser;
use executor::CancelToken;
use renderer::{Element, RenderArgs, Rendering, draw_page};
use std::process::ExitCode;

/// Draws a page on one thread: the text first, then one image after the other.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    render: RenderArgs,

    /// Draw texts and images one by one in the order of the page
    #[arg(long)]
    in_order: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let strategy = if args.in_order { in_order } else { text_first };
    draw_page("sequential", &args.render, strategy)
}

// ANCHOR: in_order
pub(crate) fn in_order(rendering: &mut Rendering) -> anyhow::Result<()> {
    let token = CancelToken::current();
    let elements = rendering.page().elements.clone();
    for (place, element) in elements.iter().enumerate() {
        match element {
            Element::Text(_) => rendering.screen.show_element(place),
            Element::Image(image) if rendering.screen.is_open(place) => {
                let loaded = rendering.loader.load(image, &token)?;
                rendering.screen.show(loaded);
            }
            Element::Image(_) => (), // the image is beyond the limits, or was shown before
        }
    }
    Ok(())
}
// ANCHOR_END: in_order

// ANCHOR: text_first
pub(crate) fn text_first(rendering: &mut Rendering) -> anyhow::Result<()> {
    let token = CancelToken::current();
    rendering.screen.show_text();
    for image in rendering.images() {
        let loaded = rendering.loader.load(&image, &token)?;
        rendering.screen.show(loaded);
    }
    Ok(())
}
// ANCHOR_END: text_first
