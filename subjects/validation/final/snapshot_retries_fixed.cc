// The twin of snapshot_retries.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "snapshot_retries.cc"
