//! Checks the output of the examples. These tests are a separate test program: when Cargo runs all tests
//! of a package, it first builds the package's examples.

use std::process::Command;

#[test]
fn a_starvation_that_no_task_tells_of_is_in_the_log() {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(2).expect("tests are in target/<profile>/deps");
    let name = format!("starvation_in_the_log{}", std::env::consts::EXE_SUFFIX);
    let mut example = Command::new(target.join("examples").join(name));
    for (wanted, is_told) in [("executor=warn", true), ("executor=error", false)] {
        let output = example.env("RUST_LOG", wanted).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), "no header");
        let log = String::from_utf8_lossy(&output.stderr);
        let event = " WARN executor::starvation: starvation deadlock: task page (#1) on renderer-thread-1 waits for \
                     task header (#1025), queued in renderer, where no thread is free";
        assert_eq!(log.trim_end().ends_with(event), is_told, "{log}");
        assert_eq!(log.lines().count(), usize::from(is_told), "{log}");
    }
}
