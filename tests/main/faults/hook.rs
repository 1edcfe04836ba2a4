//! Faults of the capture hook, F01 to F16.
