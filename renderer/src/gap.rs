//! The reasons why something is missing in a picture: every way in which an image can fail, as a
//! value.
//!
//! A page that has gaps is better than no page. Each gap shows its reason in its place in the picture,
//! in the summary and in `--json`. The words are in this module, so that they are the same in all three
//! outputs.

use std::fmt;
use std::time::Duration;

/// The reason why an image is not in the picture. `Display` formats the reason as a short phrase,
/// such as `the server answered 404`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gap {
    /// The reference cannot be used: it has no address, or an address of a kind that is not fetched.
    Unusable(String),
    /// The file or the host does not exist or is not accessible.
    Unreachable(String),
    /// The server answered with a status that is not a success.
    Status(u16),
    /// There were too many redirects.
    Redirects {
        /// The number of redirects that are followed.
        most: usize,
    },
    /// The connection broke before the answer was complete.
    Broken(String),
    /// The image did not arrive in time.
    TimedOut {
        /// The time that the image had.
        after: Duration,
    },
    /// The answer has more bytes than are allowed.
    TooManyBytes {
        /// The number of bytes that are allowed.
        limit: u64,
    },
    /// The image has more pixels than are allowed.
    TooManyPixels {
        /// The number of pixels that the image claims to have.
        pixels: u64,
        /// The number of pixels that are allowed.
        limit: u64,
    },
    /// The bytes are not an image of a known format.
    NotAnImage(String),
    /// The page has more images than are loaded.
    TooManyImages {
        /// The number of images that are loaded.
        limit: usize,
    },
    /// The place of the image is below the end of the picture.
    OutsideThePicture,
    /// The task that loaded the image panicked.
    Panicked(String),
    /// The task that loaded the image was cancelled.
    Cancelled(String),
    /// No task has tried to load the image: the program was stopped before.
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
