// The twin of coroutine.cc: coroutines hop to the threads of an executor, and count how often.
// The awaiter writes before it hands the coroutine over.
// Finds: nothing harmful
// Flags: -std=c++20
#define FIXED
#include "coroutine.cc"
