//! Ways to end a queue, to stop a crawl, and to write down what it has done: those that fail, and those that work.
//!
//! ```text
//! cargo run -p crawler -- pills single
//! cargo run -p crawler -- stops links-lost
//! cargo run -p crawler -- orders
//! ```

use clap::{Parser, Subcommand, ValueEnum};
use crawler::pills::faults;
use crawler::web::orders::Tables;
use crawler::web::stops::{self, Point};

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
        way: Way,
    },
    /// Kills a crawl at each of its steps, for each order in which it can write what it has done
    Orders,
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
enum Way {
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

fn main() {
    match Args::parse().command {
        Command::Pills { variant } => pills(variant),
        Command::Stops { way } => stop(way),
        Command::Orders => println!("{Tables}"),
    }
}

fn pills(variant: Variant) {
    let seen = match variant {
        Variant::Endless => faults::endless(),
        Variant::Single => faults::single(),
        Variant::Overtaking => faults::overtaking(),
        Variant::Dead => faults::dead(),
        Variant::Right => faults::right(),
    };
    println!("{seen}");
}

fn stop(way: Way) {
    match way {
        Way::FalsePositive => println!("stopped when /news was complete\n{}", stops::false_positive()),
        Way::Wrappers => println!("stopped while /news was being fetched\n{}", stops::wrappers()),
        Way::LinksLost => println!("stopped between the links of /\n{}", stops::links_lost()),
        Way::TooSlow => println!("stopped while /news and /shop were being fetched\n{}", stops::too_slow()),
        Way::Right => {
            println!("stopped when /news was complete\n{}", stops::right(1, Point::Submitted, "/news"));
            println!("stopped while /news was being fetched\n{}", stops::right(1, Point::Fetching, "/news"));
            println!("stopped between the links of /\n{}", stops::right(1, Point::Written, "/"));
        }
    }
}
