//! A crawler of web sites that remembers the pages that it has not fetched.
//!
//! ```text
//!             leases                                    outcomes               changes
//!  frontier ───────────▶ visit, on a tracking executor ──────────▶ frontier ─────────▶ keeper, state
//!  one thread            many threads                              the same thread     a thread of its own
//! ```
//!
//! Each directory uses only directories above it in this list, and each module uses only modules above it.
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
