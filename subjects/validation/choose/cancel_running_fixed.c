// The twin of cancel_running.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "cancel_running.c"
