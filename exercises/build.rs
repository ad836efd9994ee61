//! Build script of every exercise: writes a test for each property in its `exercise.toml`.

fn main() {
    exercises_protocol::write_tests();
}
