//! A crawler of web sites; it remembers the pages that it has not fetched.
//!
//! ```text
//!             leases                                    outcomes               changes
//!  frontier ───────────▶ visit, on a tracking executor ──────────▶ frontier ─────────▶ keeper, state
//!  one thread            many threads                              the same thread     a thread of its own
//! ```
//!
//! Each directory in this list uses only directories above it, and each module uses only modules above it.
//!
//! | wing | what it is about |
//! |---|---|
//! | [`sites`] | parses addresses, links and the files of sites, without a connection, a thread or a clock |
//! | [`args`] | the command line |
//! | [`demo`] | a site for trying the crawler |
//! | [`crawl`] | the crawl itself: the selection of pages, the work of a thread, and the durable state |
//! | [`out`] | the output of a crawl for people and programs |
//! | [`lessons`] | wrong and right ways to stop a crawl, to record its progress, to pause between requests, and to share a queue |

pub mod sites;

pub mod args;
pub mod demo;

pub mod crawl;

pub mod out;

pub mod lessons;
