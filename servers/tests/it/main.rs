//! The stages over real sockets. What is true of every stage is written once and run against each.

mod support;

mod command_line;
mod connections;
mod files;
mod library;
mod policy;
mod refusals;
mod requests;
mod rude;
mod timeouts;
