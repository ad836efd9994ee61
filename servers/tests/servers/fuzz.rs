//! Checks the properties that hold for any input, with the cases of the acceptance suite and with
//! mutations of them. `fuzz/` has the target for cargo-fuzz. If cargo-fuzz finds a fault, its input
//! must become a new case.

#[path = "../../fuzz/property.rs"]
mod property;

use crate::acceptance::cases;
use std::fs;
use std::path::Path;

const SEED: u64 = 0x5eed_0f7a_5c5e_ed00;

/// Longer cases are cut at only a few positions, and are not mutated.
const LONG: usize = 1_000;

fn seeds() -> Vec<Vec<u8>> {
    cases::all().into_iter().map(|case| case.bytes).filter(|bytes| bytes.len() < LONG).collect()
}

#[test]
#[ignore = "writes files for cargo-fuzz to begin with"]
fn write_the_seeds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/requests");
    fs::create_dir_all(&folder).unwrap();
    for (number, bytes) in seeds().iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), bytes).unwrap();
    }
}

#[test]
fn cases_are_understood_wherever_they_are_split() {
    let long = cases::all().into_iter().map(|case| case.bytes).filter(|bytes| bytes.len() >= LONG);
    for limits in property::all_limits() {
        for bytes in seeds() {
            property::check(&bytes, &limits);
            property::check_cuts(&bytes, 0..=bytes.len(), &limits);
        }
    }
    for bytes in long {
        property::check_cuts(&bytes, (0..bytes.len()).step_by(997), &property::all_limits()[0]);
    }
}

#[test]
fn mutations_of_cases_are_understood_wherever_they_are_split() {
    let seeds = seeds();
    let mut random = Random(SEED);
    for _ in 0..4_000 {
        let mut bytes = random.pick(&seeds).clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &seeds, &mut random);
        }
        bytes.truncate(600);
        for limits in property::all_limits() {
            property::check(&bytes, &limits);
        }
    }
}

/// Pieces of text that are special to a parser.
const WORDS: [&[u8]; 20] = [
    b"\r\n",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b":",
    b";",
    b",",
    b"\0",
    b"\xff",
    b"0",
    b"f",
    b"\r\n\r\n",
    b"0\r\n\r\n",
    b"http://h",
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Host: h\r\n",
    b"Expect: 100-continue\r\n",
    b"HTTP/1.1",
];

fn mutate(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let place = random.below(bytes.len() + 1);
    let end = place + random.below(bytes.len() - place + 1).min(8);
    match random.below(5) {
        0 => drop(bytes.splice(place..place, random.pick(&WORDS).iter().copied())),
        1 => drop(bytes.drain(place..end)),
        2 => drop(bytes.splice(place..place, bytes[place..end].to_vec())),
        3 if place < bytes.len() => bytes[place] ^= 1 << random.below(8),
        _ => {
            let other = random.pick(seeds);
            bytes.truncate(place);
            bytes.extend_from_slice(&other[random.below(other.len())..]);
        }
    }
}

/// A Xorshift generator, which gives the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn pick<'s, T>(&mut self, slice: &'s [T]) -> &'s T {
        &slice[self.below(slice.len())]
    }
}
