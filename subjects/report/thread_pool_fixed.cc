// The twin of thread_pool.cc: the queue is given back after the workers have ended.
// Finds: nothing harmful
#define FIXED
#include "thread_pool.cc"
