//! Faults of transcripts, F27 to F38.
