//! Replaces TLS in a program that was built without TLS: accounts that demand TLS fail.

use super::wire::{Link, Wire};
use super::{Account, failure};
use std::io;

/// A client of TLS, which cannot be created in this build.
#[derive(Debug)]
pub(super) enum Client {}

impl Client {
    pub(super) fn new(_: &Account) -> io::Result<Client> {
        Err(failure("this program was built without TLS: build it with --features tls"))
    }

    pub(super) fn begin(&self, _: &mut Wire) -> io::Result<()> {
        match *self {}
    }
}

/// The certificate and key of a server. Only a build with the feature `tls` can create an identity.
#[derive(Debug, Clone)]
pub enum Identity {}

impl Identity {
    pub(super) fn serve(&self, _: Box<dyn Link>) -> io::Result<Box<dyn Link>> {
        match *self {}
    }
}
