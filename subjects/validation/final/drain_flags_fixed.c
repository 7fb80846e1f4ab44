// The twin of drain_flags.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "drain_flags.c"
