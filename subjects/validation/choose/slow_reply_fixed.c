// The twin of slow_reply.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "slow_reply.c"
