//! Checks the properties of any bytes with the pages of the tests and mutations of them. `fuzz/` has the
//! target for cargo-fuzz.

#[path = "../../fuzz/property.rs"]
mod property;

use std::fs;
use std::path::Path;

const SEED: u64 = 0x5eed_0f7a_5c5e_ed22;
const LONGEST: usize = 3_000;

/// Inputs that a fuzzer found.
const FOUND: [&[u8]; 3] = [
    b"<svg><svg/><title>x</svg><p hidden><li hidden>a<li>b",
    b"<ol reversed><li value=9>a<ol reversed></ol></ol></ol><li>b",
    b"<pre>\n<b>\n\n</b>\n</pre><b>\xc3\xa4<p>\xe2\x82</b>",
];

fn seeds() -> Vec<Vec<u8>> {
    let pages = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages")).unwrap();
    let mut paths: Vec<_> = pages.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "html"));
    paths.sort();
    let pages = paths.iter().map(|path| fs::read(path).unwrap());
    pages.chain(FOUND.map(<[u8]>::to_vec)).collect()
}

#[test]
fn every_page_is_well_formed() {
    for bytes in seeds() {
        for limits in property::all_limits() {
            property::check(&bytes, limits);
        }
    }
}

#[test]
fn mutations_of_pages_are_well_formed() {
    let mut seeds = seeds();
    assert!(seeds.len() > 40, "{}", seeds.len());
    for bytes in &mut seeds {
        bytes.truncate(LONGEST);
    }
    let mut random = Random(SEED);
    for _ in 0..400 {
        let mut bytes = random.pick(&seeds).clone();
        for _ in 0..=random.below(6) {
            mutate(&mut bytes, &seeds, &mut random);
        }
        bytes.truncate(LONGEST);
        for limits in property::all_limits() {
            property::check(&bytes, limits);
        }
    }
}

/// Pieces with a meaning to the parser.
const WORDS: [&[u8]; 24] = [
    b"<",
    b">",
    b"</",
    b"\"",
    b"&",
    b"&#x",
    b"<!--",
    b"-->",
    b"\0",
    b"\xff",
    b"\n",
    b"<pre>\n",
    b"</pre>",
    b"<br>",
    b"<b>",
    b"</b>",
    b"<p>",
    b"<ol reversed>",
    b"<li value=9>",
    b"</ol>",
    b"<td>",
    b"<svg/>",
    b"<p hidden>",
    b"<img src=\xc3\xa4 alt=\xe2\x82\xac>",
];

fn mutate(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let place = random.below(bytes.len() + 1);
    let end = place + random.below(bytes.len() - place + 1).min(40);
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

/// Xorshift: the same numbers in every run.
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
