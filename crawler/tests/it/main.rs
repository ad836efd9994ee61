//! What the crawler's programs promise, on real threads.

mod pills; // a queue that comes to its end

mod index_files; // a folder with files and an index
mod desktop; // what is found, and what a second run does
mod index_trouble; // what can be wrong with an index, a tree and a disk
mod index_stops; // a run that is told to stop, or killed
