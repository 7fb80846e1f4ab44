// The twin of hazard.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "hazard.cc"
