//! The corpus for fuzzing, and mutations of it, as a plain test. `fuzz/` has the target for those who have cargo-fuzz.

#[path = "../../fuzz/property.rs"]
mod property;

use std::fs;
use std::path::Path;

const SEED: u64 = 0x5eed_0f7a_5c5e_ed22;
const LONGEST: usize = 3_000;

/// The pages of the tests are the seeds. What a fuzzer finds is put into `fuzz/corpus/pages`.
fn corpus() -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    for directory in ["tests/pages", "fuzz/corpus/pages"] {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
        paths.extend(fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()));
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "html"));
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn every_page_of_the_corpus_is_well_formed() {
    for bytes in corpus() {
        for limits in property::all_limits() {
            property::check(&bytes, limits);
        }
    }
}

#[test]
fn mutations_of_the_corpus_are_well_formed() {
    let mut corpus = corpus();
    assert!(corpus.len() > 40, "{}", corpus.len());
    for bytes in &mut corpus {
        bytes.truncate(LONGEST);
    }
    let mut random = Random(SEED);
    for _ in 0..400 {
        let mut bytes = random.pick(&corpus).clone();
        for _ in 0..=random.below(6) {
            mutate(&mut bytes, &corpus, &mut random);
        }
        bytes.truncate(LONGEST);
        for limits in property::all_limits() {
            property::check(&bytes, limits);
        }
    }
}

/// Pieces that mean something to a parser.
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

fn mutate(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    let place = random.below(bytes.len() + 1);
    let end = place + random.below(bytes.len() - place + 1).min(40);
    match random.below(5) {
        0 => drop(bytes.splice(place..place, random.pick(&WORDS).iter().copied())),
        1 => drop(bytes.drain(place..end)),
        2 => drop(bytes.splice(place..place, bytes[place..end].to_vec())),
        3 if place < bytes.len() => bytes[place] ^= 1 << random.below(8),
        _ => {
            let other = random.pick(corpus);
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
