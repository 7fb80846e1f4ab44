// The twin of heat_grid.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "heat_grid.c"
