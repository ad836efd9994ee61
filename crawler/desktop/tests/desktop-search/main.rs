//! Tests desktop search through its two programs.

mod folder; // a folder with files and an index
mod search; // the found files, and a second run
mod stops; // a run that is told to stop, or killed
mod trouble; // faults of an index, a tree and a disk
