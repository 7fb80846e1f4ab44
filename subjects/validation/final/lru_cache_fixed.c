// The twin of lru_cache.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "lru_cache.c"
