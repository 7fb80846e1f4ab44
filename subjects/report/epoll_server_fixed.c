// The twin of epoll_server.c: each request holds a reference to its connection.
// Finds: nothing harmful
#define FIXED
#include "epoll_server.c"
