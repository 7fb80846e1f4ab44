// The twin of reload_signal.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "reload_signal.c"
