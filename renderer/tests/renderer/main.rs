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
mod told; // messages about a page that is not drawn as the user expects
mod sizes; // images for which the page gives no size
mod record; // the records of a page
mod strategies; // each strategy, at any timing
