// The twin of sleeping_consumer.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "sleeping_consumer.cc"
