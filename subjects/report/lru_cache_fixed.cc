// The twin of lru_cache.cc: an entry is used while the mutex is held.
// Finds: nothing harmful
#define FIXED
#include "lru_cache.cc"
