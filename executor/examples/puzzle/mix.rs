//! A quick hash function. The hash function need not be secure, because no attacker chooses the positions.

use std::hash::{BuildHasher, Hasher};

#[derive(Clone, Copy, Default)]
pub struct Mix(u64);

impl BuildHasher for Mix {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 << 8 | u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let product = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
