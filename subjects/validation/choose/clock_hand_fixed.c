// The twin of clock_hand.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "clock_hand.c"
