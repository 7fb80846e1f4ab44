// Failures of C++ that shared reads decide. A comment at the end of a line names it.
#include <exception>
#include <iostream>

#define NOINLINE __attribute__((noinline))

int total, limit;
int *item;

NOINLINE void throws() {
    if (total > 3) // thrown
        throw total; // throw
}

NOINLINE void terminates() {
    if (limit == 9) // terminated
        std::terminate(); // terminate
}

NOINLINE void complain() {
    int value = limit; // complaint
    if (value < 0)
        std::cerr << "limit: " << value << "\n";
}

NOINLINE void show() {
    int value = total; // shown
    std::cout << "total: " << value << "\n";
}

NOINLINE void erase() {
    int *old = item; // erased
    delete old;
}

int main() {
    throws();
    terminates();
    complain();
    show();
    erase();
}
