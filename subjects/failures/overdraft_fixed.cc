// Each thread looks up and lowers the balance in one critical section.
// Finds: nothing harmful
#define FIXED
#include "overdraft.cc"
