//! The reasons why something is missing in a picture: a value for every way in which an image can fail.
//!
//! A page with gaps is better than no page. The reason for a gap is shown in the picture at the place of the
//! gap, in the summary, and in `--json`. The texts of the reasons are in this module, so they are the same in
//! all three outputs.

use std::fmt;
use std::time::Duration;

/// The reason why an image is not in the picture. `Display` formats the reason as a short phrase,
/// such as `the server answered 404`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gap {
    /// The reference cannot be used: it has no address, or an address of a kind that the program does not
    /// fetch.
    Unusable(String),
    /// The file or the host does not exist or cannot be reached.
    Unreachable(String),
    /// The server answered with a status that is not a success.
    Status(u16),
    /// There were too many redirects.
    Redirects {
        /// The largest number of redirects that are followed.
        most: usize,
    },
    /// The connection ended before the answer was complete.
    Broken(String),
    /// The image did not arrive in time.
    TimedOut {
        /// The time limit of the image.
        after: Duration,
    },
    /// The answer has more bytes than the limit allows.
    TooManyBytes {
        /// The largest allowed number of bytes.
        limit: u64,
    },
    /// The image has more pixels than the limit allows.
    TooManyPixels {
        /// The number of pixels that the image claims to have.
        pixels: u64,
        /// The largest allowed number of pixels.
        limit: u64,
    },
    /// The bytes are not an image of a known format.
    NotAnImage(String),
    /// The page has more images than the program loads.
    TooManyImages {
        /// How many images the program loads.
        limit: usize,
    },
    /// The place of the image lies below the end of the picture.
    OutsideThePicture,
    /// The task that loaded the image panicked.
    Panicked(String),
    /// The task that loaded the image was cancelled.
    Cancelled(String),
    /// No task has tried to load the image, because the program was stopped earlier.
    NotLoaded,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gap::Unusable(why) | Gap::Unreachable(why) => f.write_str(why),
            Gap::Status(status) => write!(f, "the server answered {status}"),
            Gap::Redirects { most } => write!(f, "more than {most} redirects, one after the other"),
            Gap::Broken(why) => write!(f, "the connection broke: {why}"),
            Gap::TimedOut { after } => write!(f, "not there after {after:?}"),
            Gap::TooManyBytes { limit } => write!(f, "larger than {limit} bytes"),
            Gap::TooManyPixels { pixels, limit } => write!(f, "{pixels} pixels, and {limit} are allowed"),
            Gap::NotAnImage(why) => write!(f, "no image that can be decoded: {why}"),
            Gap::TooManyImages { limit } => write!(f, "beyond the first {limit} images"),
            Gap::OutsideThePicture => f.write_str("below the end of the picture"),
            Gap::Panicked(message) => write!(f, "its task panicked: {message}"),
            Gap::Cancelled(why) => write!(f, "called off: {why}"),
            Gap::NotLoaded => f.write_str("not loaded: the program was stopped"),
        }
    }
}
