//! What the crawler's programs promise, on real threads.

mod pills; // a queue that comes to its end
