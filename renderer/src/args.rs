//! The command line that all strategies share, so that one strategy can replace another.

use crate::demo::{DemoImage, DemoOptions, demo_image};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// The largest number of threads that a pool may have.
const MOST_THREADS: usize = 1000;

/// The flags of every strategy.
#[derive(clap::Args, Debug)]
pub struct RenderArgs {
    /// The page: a file, or an http:// address. Without this argument, the page of the built-in
    /// server
    pub page: Option<String>,

    /// The file for the picture
    #[arg(long, value_name = "FILE", default_value = "page.png")]
    pub out: PathBuf,

    /// How many threads load images, if the strategy has a pool [default: what suits the strategy]
    #[arg(long, value_name = "COUNT", value_parser = command_line::threads::<MOST_THREADS>)]
    pub threads: Option<NonZeroUsize>,

    /// Time limit for each image
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = command_line::duration, help_heading = "Limits")]
    pub timeout: Duration,

    /// Time limit for the whole page; what is missing then stays missing
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = command_line::duration, help_heading = "Limits")]
    pub page_timeout: Duration,

    /// How many images are loaded
    #[arg(long, value_name = "COUNT", default_value = "1000", help_heading = "Limits")]
    pub max_images: usize,

    /// How many bytes the page and each image may have
    #[arg(long, value_name = "BYTES", default_value = "16777216", help_heading = "Limits")]
    pub max_bytes: u64,

    /// How many pixels the picture and each image may have
    #[arg(long, value_name = "PIXELS", default_value = "25000000", value_parser = clap::value_parser!(u64).range(1..=500_000_000), help_heading = "Limits")]
    pub max_pixels: u64,

    /// Width of the page, in CSS pixels
    #[arg(long, value_name = "PIXELS", default_value = "800", value_parser = clap::value_parser!(u32).range(100..=10_000), help_heading = "Picture")]
    pub width: u32,

    /// Pixels of the picture for each CSS pixel
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = scale, help_heading = "Picture")]
    pub scale: f32,

    /// A font for characters that the built-in font lacks (it has Latin, Greek, Cyrillic, Hebrew
    /// and Arabic)
    #[arg(long, value_name = "FILE", help_heading = "Picture")]
    pub font: Option<PathBuf>,

    /// Draw the timeline of the threads into this file (SVG)
    #[arg(long, value_name = "FILE", help_heading = "What happened")]
    pub timeline: Option<PathBuf>,

    /// Write a picture into this directory whenever the page has changed, and at the end an
    /// animated picture of all of them
    #[arg(long, value_name = "DIRECTORY", help_heading = "What happened")]
    pub frames: Option<PathBuf>,

    /// Print the summary as JSON
    #[arg(long, help_heading = "What happened")]
    pub json: bool,

    /// Random latencies, sizes and failures; the same number gives the same ones
    #[arg(long, value_name = "NUMBER", conflicts_with = "page", help_heading = "Built-in server")]
    pub demo_seed: Option<u64>,

    /// The images of the built-in page, such as 800ms,80ms:404,500ms:reset
    #[arg(long, value_name = "IMAGES", value_delimiter = ',', value_parser = demo_image, conflicts_with = "page", help_heading = "Built-in server")]
    pub demo_images: Vec<DemoImage>,

    /// The advertisement of the built-in page, such as 3s
    #[arg(long, value_name = "IMAGE", value_parser = demo_image, conflicts_with = "page", help_heading = "Built-in server")]
    pub demo_advertisement: Option<DemoImage>,
}

impl RenderArgs {
    pub(crate) fn demo_options(&self) -> DemoOptions {
        DemoOptions {
            seed: self.demo_seed,
            images: self.demo_images.clone(),
            advertisement: self.demo_advertisement.clone(),
        }
    }
}

fn scale(written: &str) -> Result<f32, String> {
    match written.parse() {
        Ok(scale) if (0.1..=8.0).contains(&scale) => Ok(scale),
        _ => Err("a number from 0.1 to 8 is wanted".to_owned()),
    }
}
