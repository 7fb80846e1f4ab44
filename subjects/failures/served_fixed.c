// The twin of served.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "served.c"
