//! HTTP/1.1 between bytes and values, without a socket in sight.
//!
//! A [`Conversation`] takes the bytes that arrive on a connection and gives [`Request`]s, or a [`Refusal`]; it takes
//! [`Response`]s and gives the bytes to send. Nothing here reads, waits or knows what a thread is, so a stage that blocks
//! and a stage that reacts to readiness share it.
//!
//! # What is refused
//!
//! A request that two readers could understand in two ways is how one request is smuggled inside another, so
//! whatever is ambiguous is refused and the connection closed: nobody knows where the next request would start.
//! The [`httparse`] crate checks the grammar of lines; this module adds what that crate is lenient about (a
//! line ended by LF alone) and what it leaves to its user: `Host`, and where the body ends.

mod refusal;
pub(crate) use refusal::FACTS;
pub use refusal::Refusal;

mod authority;
pub(crate) use authority::{Authority, has_valid_escapes};

mod room;
pub use room::Room;
pub(crate) use room::Share;

mod body;
use body::{BodyDecoder, Framing};

mod request;
pub use request::{Presence, Request, Version};

mod head;

mod owned;
pub use owned::OwnedRequest;

mod conversation;
pub use conversation::{Conversation, Phase, Step};

pub(crate) mod date;

mod response;
pub use response::{Body, Persistence, Response, Status};
pub(crate) use response::{CHUNK, CLOSE, append_chunk};

mod validators;
pub use validators::{Precondition, Validators};

mod range;
pub(crate) use range::Part;
