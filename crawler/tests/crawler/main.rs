//! Tests of the crawler's programs on real threads.

mod child; // a program of the crawler, and its output

mod pills; // the end of a queue

mod mail; // many accounts, one deadline
mod mail_hosts; // the hosts file of the mail check
mod mail_program; // the mail check from a shell
mod mail_servers; // mail servers with good and bad behaviour
#[cfg(feature = "tls")]
mod mail_tls; // mail over TLS

mod web_crawl; // every page is crawled once
mod web_demo; // the demo site
mod web_rules; // rules, lists and pauses of a site; limits, stops and files
mod web_again; // pages that have changed since an earlier run
mod web_trouble; // a crawl that is stopped, and a state that cannot be used
mod web_stops; // the losses of each way to stop, and of each order of writes
#[cfg(feature = "redis")]
mod web_figures; // the cost of a page for the engine
#[cfg(feature = "redis")]
mod web_shared; // one crawl by many processes
mod web_fetch; // fetching a page
mod web_hostile; // hostile or faulty sites
#[cfg(feature = "tls")]
mod web_tls; // pages over TLS
