//! A request that owns its bytes and does not depend on its connection.
//!
//! A [`Request`] borrows the bytes of its connection, so the connection cannot read further bytes while the
//! request exists. An owned request can wait in a queue while the connection reads the next request.

use super::head::Head;
use super::{Body, Persistence, Request, Response, Share};
use std::mem;

/// A complete request that does not need its connection any more: it can wait in a queue, and another
/// thread can answer it.
///
/// The memory of a request can be used for another request: [`Conversation::take`](super::Conversation::take)
/// fills an existing value.
#[derive(Debug, Default)]
pub struct OwnedRequest {
    pub(super) head: Head,
    /// The bytes of the head.
    pub(super) bytes: Vec<u8>,
    pub(super) body: Vec<u8>,
    /// The body's share of the memory for bodies.
    pub(super) share: Share,
}

impl OwnedRequest {
    /// Returns the request.
    ///
    /// # Panics
    ///
    /// Panics if no request was ever taken into this value.
    pub fn request(&self) -> Request<'_> {
        assert!(self.head.is_whole(), "no request was taken into this");
        self.head.request(&self.bytes, &self.body)
    }

    /// Returns the number of bytes that the request holds.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.body.len()
    }

    /// Moves the body's share of the memory out of the request. The caller must keep the share as long as the
    /// body exists, or an answer that repeats the body exists.
    pub(crate) fn take_share(&mut self) -> Share {
        self.share.take()
    }

    /// Gives back the memory of the body.
    pub(crate) fn drop_body(&mut self) {
        drop((mem::take(&mut self.body), self.share.take()));
    }

    /// Appends the head of the answer to `out`, and returns the body that follows this head. The head tells
    /// the client whether the connection stays open, as `then` says.
    pub fn answer<'s>(
        &self,
        response: Response,
        then: impl Into<Persistence<'s>>,
        out: &mut Vec<u8>,
    ) -> Body {
        self.head.answer(response, then.into(), out)
    }
}
