// The twin of producer_consumer.cc: a producer looks for room and fills it in one critical section.
// Finds: nothing harmful
// Flags: -std=c++20
#define FIXED
#include "producer_consumer.cc"
