//! Limits the memory that the bodies of all clients together may take; each body has a share of that memory.
//!
//! The server takes the share of a body before it reads the body, and refuses the request if too little
//! memory is left. The share moves with the body, also to another thread or into an answer; dropping
//! the share gives the memory back.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory that the bodies of all clients together may take, and the memory that they take at
/// present.
///
/// A body counts twice against this memory from the beginning. An answer may repeat the body, as the answer
/// of `/echo` does, and when the answer begins, it is too late for a refusal. The body counts until its
/// answer is sent or dropped. Bytes that are not parsed yet also count, except for the first 4 KiB on each
/// connection. The allocated memory counts, even if only a part of it is used.
#[derive(Debug, Clone)]
pub struct Room(Arc<Bytes>);

#[derive(Debug)]
struct Bytes {
    held: AtomicUsize,
    most: usize,
}

/// A part of the memory of a [`Room`]; dropping this value gives the part back.
#[derive(Debug, Default)]
pub(crate) struct Share {
    bytes: usize,
    /// `None` while there are no bytes. Most requests have no body; such requests do not write to memory that
    /// all connections share.
    room: Option<Room>,
}

impl Room {
    /// Makes a room of `most` bytes.
    pub fn of_at_most(most: usize) -> Room {
        Room(Arc::new(Bytes { held: AtomicUsize::new(0), most }))
    }

    /// Returns how many bytes of the room are taken.
    pub fn held(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        let Bytes { held, most } = &*self.0;
        // Relaxed is enough: the counter is only a number, and no other data depends on it.
        let more = |held: usize| held.checked_add(bytes).filter(|held| held <= most);
        held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

impl Share {
    /// Lets the share grow to at least `bytes`. If `room` does not have enough bytes left, changes nothing
    /// and returns false.
    #[must_use]
    pub(super) fn grow_to(&mut self, bytes: usize, room: &Room) -> bool {
        let missing = bytes.saturating_sub(self.bytes);
        if missing == 0 {
            return true;
        }
        if !room.take(missing) {
            return false;
        }
        self.bytes = bytes;
        self.room.get_or_insert_with(|| room.clone());
        true
    }

    /// Keeps a share of `bytes` bytes, and gives the rest back.
    pub(super) fn shrink_to(&mut self, bytes: usize) {
        if let Some(room) = &self.room
            && let Some(spare) = self.bytes.checked_sub(bytes)
        {
            room.0.held.fetch_sub(spare, Ordering::Relaxed);
            self.bytes = bytes;
        }
    }

    /// Moves the share to the caller.
    pub(crate) fn take(&mut self) -> Share {
        mem::take(self)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_given_back_whole_in_whatever_parts() {
        let room = Room::of_at_most(10);
        let (mut one, mut other) = (Share::default(), Share::default());
        assert!(one.grow_to(6, &room) && one.grow_to(4, &room) && other.grow_to(4, &room));
        assert!(!other.grow_to(5, &room) && !other.grow_to(usize::MAX, &room));
        assert_eq!((one.bytes, other.bytes, room.held()), (6, 4, 10));
        one.shrink_to(8);
        one.shrink_to(1);
        assert_eq!(room.held(), 5);
        let moved = other.take();
        drop(other);
        assert_eq!(room.held(), 5);
        drop((one, moved));
        assert_eq!(room.held(), 0);
    }
}
