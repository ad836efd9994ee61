//! Tests the guarantees of the renderer.

mod drawing; // a page that is drawn while the test watches
mod fuzz; // any bytes at all
mod gated; // a server that the test controls

mod decode; // images to pixels
mod fetch; // bytes from addresses
mod distance; // how different two pictures look
mod page; // bytes to a page
mod pictures; // pages to pictures
mod demo; // the built-in server
mod portal; // one entry for each company
mod programs; // the programs as a shell sees them
mod told; // what they tell of a page that is not drawn as one would think
mod sizes; // images that do not say how large they are
mod record; // what is written about a page
mod strategies; // each strategy, whatever the timing
