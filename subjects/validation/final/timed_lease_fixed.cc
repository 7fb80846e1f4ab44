// The twin of timed_lease.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "timed_lease.cc"
