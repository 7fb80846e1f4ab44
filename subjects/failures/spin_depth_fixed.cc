// The twin of spin_depth.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "spin_depth.cc"
