//! Links the program to a fixed address. With a variable address, each process of the program would begin
//! with 200,000 relocations, which take longer than most jobs. The script also tells the program the version
//! of the compiler that builds the program; the ledger needs this.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    let version = Command::new(env::var("RUSTC").unwrap()).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let of = |key| version.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    println!("cargo::rustc-env=COMPILER={}{}", of("release: "), of("commit-hash:"));
}
