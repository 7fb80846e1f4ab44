// The twin of lazy_settings.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "lazy_settings.cc"
