//! The binary `sinker`.
fn main() {}
