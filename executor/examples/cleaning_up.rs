//! A task must give back the brush that it has borrowed, even if the task is cancelled.
//!
//! ```sh
//! cargo run --example cleaning_up
//! ```
//!
//! The book explains this example in the chapter "Cancellation policies".

use executor::channel::{Receiver, ReceiverExt, Sender, SenderExt, bounded};
use executor::{CancelToken, Cancelled, masked};
use std::error::Error;
use std::time::Duration;

type Brush = &'static str;

// ANCHOR: careless
fn paint_carelessly(brushes: &Receiver<Brush>, back: &Sender<Brush>) -> Result<(), Box<dyn Error>> {
    let brush = brushes.take()?;
    let painted = paint();
    let _ = back.put(brush); // there is room, because the brush came from there
    Ok(painted?)
}
// ANCHOR_END: careless

// ANCHOR: careful
fn paint_carefully(brushes: &Receiver<Brush>, back: &Sender<Brush>) -> Result<(), Box<dyn Error>> {
    let brush = brushes.take()?;
    let painted = paint();
    let _ = masked(|| back.put(brush)); // fails only if no painter takes brushes any more
    Ok(painted?)
}
// ANCHOR_END: careful

/// Paints, and is cancelled half-way.
fn paint() -> Result<(), Cancelled> {
    let token = CancelToken::current();
    token.cancel_because("the customer has gone"); // here the task cancels itself, so that it always happens
    token.sleep(Duration::from_secs(3600))
}

type Painter = fn(&Receiver<Brush>, &Sender<Brush>) -> Result<(), Box<dyn Error>>;

fn main() {
    let painters: [(_, Painter); 2] = [("careless", paint_carelessly), ("careful", paint_carefully)];
    for (name, paint) in painters {
        let (back, brushes) = bounded(3);
        for brush in ["thin", "broad", "flat"] {
            back.put(brush).expect("there is room for three");
        }
        for _ in 0..2 {
            if let Err(error) = CancelToken::new().attach(|| paint(&brushes, &back)) {
                println!("{name}: {error}; brushes in the box: {}", brushes.len());
            }
        }
    }
}
