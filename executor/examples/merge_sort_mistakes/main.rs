//! Well-known mistakes in printed merge sorts; the example makes each of them on purpose.
//!
//! ```sh
//! cargo run --example merge_sort_mistakes -- right_bound
//! ```
//!
//! The example also has the arguments `whole_array`, `lost` and `missing_brace`.
//!
//! The book explains this example in the chapter "Mistakes in print, and five problems".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod right_bound; // the last index for the caller, the index after it for the function
mod whole_array; // the base case sorts the whole array
mod lost; // the same, while another task merges
mod missing_brace; // the function always returns

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("right_bound") => right_bound::show(),
        Some("whole_array") => whole_array::show(),
        Some("lost") => lost::show()?,
        Some("missing_brace") => missing_brace::show(),
        _ => {
            eprintln!("say which: right_bound, whole_array, lost, missing_brace");
            std::process::exit(2);
        }
    }
    Ok(())
}
