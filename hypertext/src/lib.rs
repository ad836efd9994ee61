#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod charset;

pub mod html;

pub mod http;

#[cfg(feature = "tls")]
pub mod trust;
