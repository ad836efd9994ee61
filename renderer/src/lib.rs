#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod gap;
pub use gap::Gap;

mod reach;

pub mod page;
pub use page::{Element, ImageRef, Page, TextBlock};

pub mod picture;
pub use picture::{ImageLimits, Picture};

mod repeats;

pub mod layout;
pub use layout::{Layout, NoGlyph};

pub mod canvas;
pub use canvas::Canvas;

pub mod fetch;

pub mod timeline;
pub use timeline::{Activity, Timeline};

pub mod loader;
pub use loader::{Loaded, Loader};

pub mod frames;

pub mod report;
pub use report::Report;

pub mod demo;

pub mod portal;

pub mod args;
pub use args::RenderArgs;

mod progress;

pub mod screen;
pub use screen::{Drawn, Event, Screen};

pub mod stage;
pub use stage::{Rendering, Stage, draw_page, run};
