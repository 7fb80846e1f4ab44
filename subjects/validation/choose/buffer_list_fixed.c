// The twin of buffer_list.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "buffer_list.c"
