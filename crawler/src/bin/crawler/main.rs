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
    /// Ends a queue by poison pills: four ways that fail, each stopped by a watchdog, and one that works
    Pills {
        /// Which one
        #[arg(value_enum, default_value = "right")]
        variant: Variant,
    },
    /// Stops a crawl: four ways that lose pages or fetch them again, and one that does neither
    Stops {
        /// Which one
        #[arg(value_enum, default_value = "right")]
        way: Stop,
    },
    /// Kills a crawl at each of its steps, for each order in which it can write what it has done
    Orders {
        /// Print the tables as JSON, and for letters the cost of each crash point
        #[arg(long)]
        json: bool,
    },
    /// Kills a worker, or stops it for a while, at each moment, for each way in which two workers can share a
    /// queue of pages
    Leases,
    /// Leaves sites alone after each page: two ways that keep threads from other sites, and one that does not
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
    /// Each of two producers puts a pill, and the first one comes before the second producer's files
    Overtaking,
    /// The consumer dies, and the producer waits for room
    Dead,
    /// Two producers, three consumers, and one of them dies
    Right,
}

#[derive(Clone, Copy, ValueEnum)]
enum Stop {
    /// A page that was complete is reported as cut off
    FalsePositive,
    /// The tasks that had not begun are handed out without their addresses
    Wrappers,
    /// A link is noted as seen, and then it is refused
    LinksLost,
    /// A page takes longer to give up than the crawl waits
    TooSlow,
    /// The state always says what is left
    Right,
}

#[derive(Clone, Copy, ValueEnum)]
enum Pause {
    /// A thread sleeps after each page
    Sleeping,
    /// A thread looks at one page after the other until one may be fetched
    Asking,
    /// A timer says when a page may be fetched
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
