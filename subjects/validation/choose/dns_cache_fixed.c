// The twin of dns_cache.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "dns_cache.c"
