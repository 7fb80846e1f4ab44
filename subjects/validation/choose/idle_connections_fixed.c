// The twin of idle_connections.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "idle_connections.c"
