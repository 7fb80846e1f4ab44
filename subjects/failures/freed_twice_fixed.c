// The twin of freed_twice.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "freed_twice.c"
