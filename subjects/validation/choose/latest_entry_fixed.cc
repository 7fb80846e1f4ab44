// The twin of latest_entry.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "latest_entry.cc"
