// An object with virtual functions and a virtual destructor.
// Events on the object: its pointer to the virtual table (8 bytes at its start) is written by
// both constructors and the destructor of the base; that of the derived class begins with the value that is
// there. Each virtual call reads it.
#include <cstdio>

struct Base {
    Base() {}
    virtual int number() { return 1; }
    virtual ~Base() { std::puts("~Base"); }
};

struct Derived : Base {
    Derived() {}
    int number() override { return 2; }
    ~Derived() override { std::puts("~Derived"); }
};

int main() {
    Base *object = new Derived;
    std::printf("%d\n", object->number());
    delete object;
}
