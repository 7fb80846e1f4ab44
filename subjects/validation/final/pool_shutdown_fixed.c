// The twin of pool_shutdown.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "pool_shutdown.c"
