//! A quick hash function. Nobody chooses positions to make them collide, so it need not be a secure one.

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
        bytes.iter().for_each(|byte| self.write_u64(self.0 << 8 | u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(word ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
