// A worker corrects its result before it says that it is done.
// Finds: nothing harmful
#define FIXED
#include "late_result.cc"
