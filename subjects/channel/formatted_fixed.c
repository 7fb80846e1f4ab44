// The twin of formatted.c: a thread sends the numbers of prices through a pipe by `dprintf`.
// Each price is filled in before its number is sent. The relaxed counter orders nothing, but the pipe does.
// Finds: nothing harmful
#define FIXED
#include "formatted.c"
