// The twin of twin_counters.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "twin_counters.cc"
