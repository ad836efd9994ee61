//! Draws curves as SVG, for programs that make measurements.
//!
//! A [`Chart`] has panels next to each other; each panel has a line for each name in the legend. A picture
//! that shows no curves can use the same paper, [`Drawing`], and the same axes, [`Axis`].
//!
//! ```
//! use charts::{Axis, Chart, Panel, Scale, number};
//!
//! let connections = Axis::new("connections", Scale::Even, number);
//! let rate = Axis::new("answers a second", Scale::Linear(5), number);
//! let panel = Panel::new(connections, rate, vec![vec![(1.0, 90.0), (2.0, 170.0), (4.0, 310.0)]]);
//! let svg = Chart { title: "a pool of four", note: "", names: vec!["pooled"], panels: vec![panel] }.svg();
//! assert!(svg.starts_with("<svg") && svg.contains("<title>pooled: 170</title>"));
//! ```

mod axis; // from values to positions
mod drawing; // texts and shapes on paper
mod chart; // panels with lines

pub use axis::{Axis, Scale, number, time};
pub use chart::{Band, Chart, Panel};
pub use drawing::{Anchor, Drawing, escaped};

#[cfg(test)]
mod tests;
