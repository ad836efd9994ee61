//! Ways to end a queue, and ways to leave a site alone, right and wrong.
//!
//! ```text
//! cargo run -p crawler -- pills single
//! cargo run -p crawler -- politeness sleeping
//! ```

use clap::{Parser, Subcommand, ValueEnum};
use crawler::pills::faults;
use crawler::web::politeness::{Diary, asking, scheduled, sleeping};
use executor::CancelToken;
use std::sync::Arc;
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
    /// Leaves sites alone after each page: two ways that keep threads from other sites, and one that does not
    Politeness {
        /// Which one
        #[arg(value_enum, default_value = "scheduled")]
        way: Way,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    /// A thread sleeps after each page
    Sleeping,
    /// A thread looks at one page after the other until one may be fetched
    Asking,
    /// A timer says when a page may be fetched
    Scheduled,
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

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Pills { variant } => println!("{}", pills(variant)),
        Command::Politeness { way } => println!("{}", politeness(way)?),
    }
    Ok(())
}

fn pills(variant: Variant) -> faults::Seen {
    match variant {
        Variant::Endless => faults::endless(),
        Variant::Single => faults::single(),
        Variant::Overtaking => faults::overtaking(),
        Variant::Dead => faults::dead(),
        Variant::Right => faults::right(),
    }
}

fn politeness(way: Way) -> anyhow::Result<Arc<Diary>> {
    let (diary, never) = (Diary::new(Duration::from_millis(200)), CancelToken::new());
    match way {
        Way::Sleeping => sleeping(&diary, &never)?,
        Way::Asking => asking(&diary, &never)?,
        Way::Scheduled => scheduled(&diary, &never)?,
    }
    Ok(diary)
}
