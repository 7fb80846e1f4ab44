// The twin of cas_fallback.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "cas_fallback.cc"
