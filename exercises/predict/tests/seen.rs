//! Checks that each program always returns the text that a learner sees after a prediction.

use exercises_predict::PROGRAMS;
use std::fs;
use std::path::Path;

/// The number of runs of each program.
const RUNS: usize = 50;

#[test]
fn what_was_seen_is_what_each_run_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seen");
    for (name, run) in PROGRAMS {
        let path = folder.join(format!("{name}.txt"));
        let seen = fs::read_to_string(&path).unwrap_or_default();
        for _ in 0..RUNS {
            let now = run() + "\n";
            assert_eq!(
                seen,
                now,
                "`cargo run -p exercises-predict {name}` has what belongs in {}",
                path.display()
            );
        }
    }
    assert_eq!(
        fs::read_dir(&folder).unwrap().count(),
        PROGRAMS.len(),
        "a file of no program is in {}",
        folder.display()
    );
}
