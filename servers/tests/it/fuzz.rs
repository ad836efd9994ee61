//! The corpus for fuzzing, and mutations of it, as a plain test. `fuzz/` has the target for those who have cargo-fuzz.

#[path = "../../fuzz/property.rs"]
mod property;

use crate::acceptance::cases;
use crate::support::recording;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const SEED: u64 = 0x5eed_0f7a_5c5e_ed00;

fn corpus() -> BTreeMap<String, Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/requests");
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

/// The acceptance suite's cases, all but the overlong, are the seeds. What a fuzzer finds is put beside them.
#[test]
fn every_case_is_in_the_corpus() {
    let corpus = corpus();
    for case in cases::all().into_iter().filter(|case| case.bytes.len() < 1_000) {
        if recording() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/requests").join(&case.name);
            fs::write(path, &case.bytes).unwrap();
        } else {
            assert_eq!(
                corpus.get(&case.name),
                Some(&case.bytes),
                "{}: run the tests once with RECORD=1",
                case.name
            );
        }
    }
}

#[test]
fn the_corpus_is_understood_wherever_it_is_split() {
    let overlong = cases::all().into_iter().filter(|case| case.bytes.len() >= 1_000);
    for limits in property::all_limits() {
        for bytes in corpus().values() {
            property::check(bytes, &limits);
            property::check_cuts(bytes, 0..=bytes.len(), &limits);
        }
    }
    for case in overlong {
        property::check_cuts(&case.bytes, (0..case.bytes.len()).step_by(997), &property::all_limits()[0]);
    }
}

#[test]
fn mutations_of_the_corpus_are_understood_wherever_they_are_split() {
    let corpus: Vec<_> = corpus().into_values().collect();
    assert!(corpus.len() > 200, "{}", corpus.len());
    let mut random = Random(SEED);
    for _ in 0..4_000 {
        let mut bytes = random.pick(&corpus).clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &corpus, &mut random);
        }
        bytes.truncate(600);
        for limits in property::all_limits() {
            property::check(&bytes, &limits);
        }
    }
}

/// Pieces that mean something to a parser.
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

fn mutate(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    let place = random.below(bytes.len() + 1);
    let end = place + random.below(bytes.len() - place + 1).min(8);
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
