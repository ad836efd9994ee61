//! Tests desktop search through its two programs.

mod folder; // a folder with files and an index
mod search; // what is found, and what a second run does
mod stops; // a run that is told to stop, or killed
mod trouble; // what can be wrong with an index, a tree and a disk
