//! A crawler of web sites that remembers what it has not done.
//!
//! ```text
//!             leases                                    outcomes               changes
//!  frontier ───────────▶ visit, on a tracking executor ──────────▶ frontier ─────────▶ keeper, state
//!  one thread            many threads                              the same thread     a thread of its own
//! ```
//!
//! Each wing uses only wings above it, and so do the modules within a wing.
//!
//! | wing | what it is about |
//! |---|---|
//! | [`sites`] | addresses, links, and what sites ask for: texts alone, without a connection, a thread or a clock |
//! | [`args`] | the command line |
//! | [`demo`] | a site to try the crawler with |
//! | [`crawl`] | the crawl itself: which page is next, what a thread does with it, and what is durable |
//! | [`out`] | what people and programs are told of a crawl |
//! | [`lessons`] | wrong and right ways to stop a crawl, to write it down, to leave sites alone and to share a queue |

pub mod sites;

pub mod args;
pub mod demo;

pub mod crawl;

pub mod out;

pub mod lessons;
