//! Pages about the whole, shown by rustdoc.

#[doc = include_str!("architecture.md")]
pub mod architecture {}

#[doc = include_str!("durability.md")]
pub mod durability {}

#[doc = include_str!("faults.md")]
pub mod faults {}
