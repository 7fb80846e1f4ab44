// The twin of bank.cc: the observer is called when the account is not locked any more.
// Finds: nothing harmful
#define FIXED
#include "bank.cc"
