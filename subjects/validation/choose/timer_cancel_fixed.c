// The twin of timer_cancel.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "timer_cancel.c"
