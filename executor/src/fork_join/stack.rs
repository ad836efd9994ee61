//! An estimate of the used part of a thread's stack.
//!
//! A frame of a user's task can take a hundred bytes or a hundred kilobytes. So the number of tasks on a
//! stack says little about how many more tasks fit on top. Instead, this module measures the used part of the
//! stack: the distance between a variable at the bottom of the stack and a variable at the top.

use std::ptr;

use crate::sync::process::OnceLock;

/// The part of a thread's stack that was free when [`Stack::from_here`] was called.
pub(super) struct Stack {
    bottom: usize,
    size: usize,
}

impl Stack {
    /// Returns a description of the calling thread's stack, which has room for `size` more bytes. Without a
    /// size, the default of the standard library is assumed.
    pub(super) fn from_here(size: Option<usize>) -> Self {
        Self { bottom: place(), size: size.unwrap_or_else(size_by_default) }
    }

    /// Returns whether at least half of the stack is free. Also returns true if the measured distance is
    /// longer than the stack: in this case a sanitizer keeps variables in other memory.
    pub(super) fn has_room(&self) -> bool {
        let used = place().abs_diff(self.bottom);
        used < self.size / 2 || used > self.size
    }
}

/// Returns an address near the top of the calling thread's stack.
#[inline(never)]
fn place() -> usize {
    let variable = 0_u8;
    ptr::from_ref(std::hint::black_box(&variable)).addr()
}

/// Returns the stack size that the standard library gives to a thread by default.
fn size_by_default() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| {
        let told = std::env::var("RUST_MIN_STACK").ok().and_then(|size| size.parse().ok());
        told.unwrap_or(2 << 20)
    })
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_until_half_of_it_is_used() {
        #[inline(never)]
        fn used_up(stack: &Stack, used: usize) -> usize {
            let frame = std::hint::black_box([0_u8; 1 << 10]);
            if stack.has_room() { used_up(stack, used + frame.len()) } else { used }
        }
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        let used = thread.spawn(|| used_up(&Stack::from_here(Some(2 << 20)), 0)).unwrap().join().unwrap();
        assert!((256 << 10..=1 << 20).contains(&used), "{used}");
    }
}
