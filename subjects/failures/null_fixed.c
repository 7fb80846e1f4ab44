// The twin of null.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "null.c"
