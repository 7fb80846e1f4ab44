// The twin of overflow_path.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "overflow_path.c"
