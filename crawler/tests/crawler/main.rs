//! Tests of the crawler's programs on real threads.

mod child; // a program of the crawler, and what it prints

mod pills; // a queue that comes to its end

mod mail; // many accounts, one deadline
mod mail_hosts; // the hosts file of the mail check
mod mail_program; // the mail check as a shell sees it
mod mail_servers; // what mail servers do, and what becomes of it
#[cfg(feature = "tls")]
mod mail_tls; // mail over TLS

mod web_crawl; // every page once
mod web_demo; // the site that the crawler is tried on
mod web_rules; // what a site asks for, and what limits, stops and files do to a crawl
mod web_again; // what has changed since an earlier run
mod web_trouble; // a crawl that is stopped, and a state that cannot be used
mod web_stops; // what each way to stop a crawl loses, and each order of writing
#[cfg(feature = "redis")]
mod web_figures; // what a page costs the engine
#[cfg(feature = "redis")]
mod web_shared; // one crawl by many processes
mod web_fetch; // a page, or why it cannot be had
mod web_hostile; // sites that mean no good
#[cfg(feature = "tls")]
mod web_tls; // pages over TLS
