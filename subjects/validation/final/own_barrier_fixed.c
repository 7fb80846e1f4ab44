// The twin of own_barrier.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "own_barrier.c"
