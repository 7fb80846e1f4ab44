// The twin of stale_quote.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "stale_quote.cc"
