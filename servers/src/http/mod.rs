//! Converts between bytes and the values of HTTP/1.1, without sockets.
//!
//! A [`Conversation`] turns the bytes that arrive on a connection into [`Request`]s or a [`Refusal`], and
//! turns [`Response`]s into the bytes to send. This module reads no socket, never waits and uses no
//! thread, so blocking stages and event loops share it.
//!
//! # What is refused
//!
//! To smuggle one request inside another, an attacker sends bytes that two readers understand differently. So
//! an ambiguous request is refused and its connection is closed, because the server cannot know where the
//! next request begins. The [`httparse`] crate checks the grammar of lines. This module also refuses a line
//! that ends in LF alone, although that crate accepts it; the module also checks the `Host` field and where
//! the body ends.

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
