#![no_main]

#[path = "../property.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for limits in property::all_limits() {
        property::check(bytes, limits);
    }
});
