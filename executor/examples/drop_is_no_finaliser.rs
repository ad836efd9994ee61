//! The finaliser of a garbage-collected value runs at an unknown time, or never. `Drop` runs at a place that
//! the source code shows. `Drop` does not run in two cases: the program asks to skip it, or two values own
//! each other.
//!
//! ```sh
//! cargo run --example drop_is_no_finaliser
//! ```
//!
//! The book explains this example in the chapter "How a process ends".

use std::cell::RefCell;
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::Arc;

struct File(&'static str);

impl Drop for File {
    fn drop(&mut self) {
        println!("  {} is closed", self.0);
    }
}

struct Node {
    _file: File,
    next: RefCell<Option<Rc<Node>>>,
}

fn main() {
    // ANCHOR: drops
    println!("at the end of a block, the last one first:");
    {
        let _first = File("the first");
        let _second = File("the second");
    }
    println!("with the last of its owners:");
    let shared = Arc::new(File("the shared one"));
    let other = Arc::clone(&shared);
    drop(shared);
    println!("  one owner is left");
    drop(other);
    println!("on the way out of a panic:");
    std::panic::set_hook(Box::new(|_| ())); // hides the panic's message
    let _ = catch_unwind(|| {
        let _open = File("the open one");
        panic!();
    });
    println!("never, if it is forgotten:");
    std::mem::forget(File("the forgotten one"));
    println!("never, if two own each other:");
    let one = Rc::new(Node { _file: File("one of two"), next: RefCell::default() });
    let two = Rc::new(Node { _file: File("the other"), next: RefCell::new(Some(Rc::clone(&one))) });
    one.next.replace(Some(two));
    // ANCHOR_END: drops
    println!("main returns");
}
