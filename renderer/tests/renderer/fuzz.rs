//! Checks the properties that hold for any input, with the pages of the tests and with mutations of them.
//! `fuzz/` has the target for cargo-fuzz.

#[path = "../../fuzz/property.rs"]
mod property;

use fastrand::Rng;
use std::fs;
use std::path::Path;

const SEED: u64 = 0x5eed_0f7a_5c5e_ed22;
const LONGEST: usize = 3_000;

/// Inputs that a fuzzer has found.
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
    let mut random = Rng::with_seed(SEED);
    for _ in 0..400 {
        let mut bytes = seeds[random.usize(..seeds.len())].clone();
        for _ in 0..random.u8(1..=6) {
            mutate(&mut bytes, &seeds, &mut random);
        }
        bytes.truncate(LONGEST);
        for limits in property::all_limits() {
            property::check(&bytes, limits);
        }
    }
}

/// Pieces of text that are special to the parser, separated by bars.
const WORDS: &[u8] = b"<|>|</|\"|&|&#x|<!--|-->|\0|\xff|\n|<pre>\n|</pre>|<br>|\
    <b>|</b>|<p>|<ol reversed>|<li value=9>|</ol>|<td>|<svg/>|<p hidden>|<img src=\xc3\xa4 alt=\xe2\x82\xac>";

fn word(random: &mut Rng) -> &'static [u8] {
    let words: Vec<_> = WORDS.split(|byte| *byte == b'|').collect();
    words[random.usize(..words.len())]
}

fn mutate(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Rng) {
    let place = random.usize(..=bytes.len());
    let end = random.usize(place..=bytes.len().min(place + 40));
    match random.u8(..5) {
        0 => drop(bytes.splice(place..place, word(random).iter().copied())),
        1 => drop(bytes.drain(place..end)),
        2 => drop(bytes.splice(place..place, bytes[place..end].to_vec())),
        3 if place < bytes.len() => bytes[place] ^= 1 << random.u8(..8),
        _ => {
            let other = &seeds[random.usize(..seeds.len())];
            bytes.truncate(place);
            bytes.extend_from_slice(&other[random.usize(..other.len())..]);
        }
    }
}
