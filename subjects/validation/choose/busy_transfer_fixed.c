// The twin of busy_transfer.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "busy_transfer.c"
