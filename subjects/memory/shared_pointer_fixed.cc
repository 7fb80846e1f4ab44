// The twin of shared_pointer.cc: a thread replaces the settings that an atomic shared pointer holds.
// The count is atomic. How the library protects the pointer itself is none of the program's concern.
// Finds: nothing harmful
// Flags: -std=c++20
#define FIXED
#include "shared_pointer.cc"
