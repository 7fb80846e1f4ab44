// The twin of own_spin_lock.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "own_spin_lock.cc"
