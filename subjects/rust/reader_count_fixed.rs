// The twin of `reader_count.rs`: it registers as a reader before it looks for a writer.
// Flags: --cfg fixed
include!("reader_count.rs");
