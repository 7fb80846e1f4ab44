// The twin of ownership_log.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "ownership_log.c"
