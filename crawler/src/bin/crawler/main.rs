//! Queues and their ends: ways to stop those who put and those who take.
//!
//! ```text
//! cargo run -p crawler -- pills single
//! ```

use clap::{Parser, Subcommand, ValueEnum};
use crawler::pills::faults;

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

fn main() {
    let Command::Pills { variant } = Args::parse().command;
    let seen = match variant {
        Variant::Endless => faults::endless(),
        Variant::Single => faults::single(),
        Variant::Overtaking => faults::overtaking(),
        Variant::Dead => faults::dead(),
        Variant::Right => faults::right(),
    };
    println!("{seen}");
}
