// The twin of free_then_clear.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "free_then_clear.c"
