//! Wrong and right ways to end a queue, to stop a crawl, to record its progress, to share its pages among
//! workers, and to pause between requests.
//!
//! ```text
//! cargo run --bin crawler -- pills single
//! cargo run --bin crawler -- stops links-lost
//! cargo run --bin crawler -- orders
//! cargo run --bin crawler -- leases
//! cargo run --bin crawler -- politeness sleeping
//! ```

use clap::{Parser, Subcommand, ValueEnum};
use command_line::FAILED;
use crawler::pills::faults;
use crawler::web::lessons::leases;
use crawler::web::lessons::orders;
use crawler::web::lessons::politeness::{Diary, asking, scheduled, sleeping};
use crawler::web::lessons::stops::{self, Point};
use executor::CancelToken;
use std::process::ExitCode;
use std::time::Duration;

/// Programs that end well, and some that do not.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Ends a queue by poison pills: four ways fail, and a watchdog stops each of them; one way works
    Pills {
        /// Which one
        #[arg(value_enum, default_value = "right")]
        variant: Variant,
    },
    /// Stops a crawl: four ways lose pages or fetch them again, and one way does neither
    Stops {
        /// Which one
        #[arg(value_enum, default_value = "right")]
        way: Stop,
    },
    /// Kills a crawl at each of its steps, for each order in which a crawl can record its work
    Orders {
        /// Print the tables as JSON, and for letters the cost of each crash point
        #[arg(long)]
        json: bool,
    },
    /// Kills or pauses a worker at each moment, for each way in which two workers can share a queue of pages
    Leases,
    /// Pauses between requests to a site: two ways block threads that other sites need, and one way does not
    Politeness {
        /// Which one
        #[arg(value_enum, default_value = "scheduled")]
        way: Pause,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Variant {
    /// The producer's last loop never stops putting pills
    Endless,
    /// One pill for three consumers
    Single,
    /// Each of two producers puts a pill, and the first pill comes before the second producer's files
    Overtaking,
    /// The consumer dies, and the producer waits for room
    Dead,
    /// Two producers and three consumers, and one consumer dies
    Right,
}

#[derive(Clone, Copy, ValueEnum)]
enum Stop {
    /// A page that was complete is reported as cut off
    FalsePositive,
    /// The tasks that had not begun are returned without the addresses of their pages
    Wrappers,
    /// A link is recorded as seen, and then the crawl refuses its page
    LinksLost,
    /// The task of a page gives up only after the crawl has stopped waiting for it
    TooSlow,
    /// The state always names the remaining pages
    Right,
}

#[derive(Clone, Copy, ValueEnum)]
enum Pause {
    /// A thread sleeps after each page
    Sleeping,
    /// A thread checks one page after the other until it finds a page that may be fetched
    Asking,
    /// A timer signals when a page may be fetched
    Scheduled,
}

fn main() -> ExitCode {
    let said = match Args::parse().command {
        Command::Pills { variant } => Ok(pills(variant)),
        Command::Stops { way } => Ok(stop(way)),
        Command::Orders { json: false } => Ok(format!("{}\n", orders::Tables)),
        Command::Orders { json: true } => Ok(format!("{}\n", orders::json())),
        Command::Leases => Ok(format!("{}\n", leases::Tables)),
        Command::Politeness { way } => pause(way),
    };
    command_line::ended("crawler", FAILED, said.and_then(command_line::print).map(|()| ExitCode::SUCCESS))
}

fn pills(variant: Variant) -> String {
    let seen = match variant {
        Variant::Endless => faults::endless(),
        Variant::Single => faults::single(),
        Variant::Overtaking => faults::overtaking(),
        Variant::Dead => faults::dead(),
        Variant::Right => faults::right(),
    };
    format!("{seen}\n")
}

fn stop(way: Stop) -> String {
    match way {
        Stop::FalsePositive => format!("stopped when /news was complete\n{}\n", stops::false_positive()),
        Stop::Wrappers => format!("stopped while /news was being fetched\n{}\n", stops::wrappers()),
        Stop::LinksLost => format!("stopped between the links of /\n{}\n", stops::links_lost()),
        Stop::TooSlow => format!("stopped while /news and /shop were being fetched\n{}\n", stops::too_slow()),
        Stop::Right => format!(
            "stopped when /news was complete\n{}\nstopped while /news was being fetched\n{}\nstopped between the links of /\n{}\n",
            stops::right(1, Point::Submitted, "/news"),
            stops::right(1, Point::Fetching, "/news"),
            stops::right(1, Point::Written, "/"),
        ),
    }
}

fn pause(way: Pause) -> anyhow::Result<String> {
    let (diary, never) = (Diary::new(Duration::from_millis(200)), CancelToken::new());
    match way {
        Pause::Sleeping => sleeping(&diary, &never)?,
        Pause::Asking => asking(&diary, &never)?,
        Pause::Scheduled => scheduled(&diary, &never)?,
    }
    Ok(format!("{diary}\n"))
}
