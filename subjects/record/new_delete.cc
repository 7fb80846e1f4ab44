// operator new and delete in all their forms.
// Events: for each pair of lines an allocation of the size that is named there, at a place in this
// file, and the freeing of the same block. What cannot be allocated leaves no event here.
#include <cstddef>
#include <cstdio>
#include <cstdint>
#include <new>

template <std::size_t size> struct Block { char bytes[size]; };
template <std::size_t size> struct alignas(64) Aligned { char bytes[size]; };

int main() {
    const std::align_val_t align{64};
    auto *a = new Block<101>;
    delete a;
    auto *b = new char[102];
    delete[] b;
    auto *c = new (std::nothrow) Block<103>;
    delete c;
    auto *d = new (std::nothrow) char[104];
    delete[] d;
    void *e = ::operator new(105, align);
    bool aligned = reinterpret_cast<std::uintptr_t>(e) % 64 == 0;
    ::operator delete(e, align);
    void *f = ::operator new[](106, align);
    ::operator delete[](f, align);
    void *g = ::operator new(107, align, std::nothrow);
    ::operator delete(g, align, std::nothrow);
    void *h = ::operator new[](108, align, std::nothrow);
    ::operator delete[](h, align, std::nothrow);
    auto *i = new Aligned<1>;
    aligned &= reinterpret_cast<std::uintptr_t>(i) % 64 == 0;
    delete i;
    try {
        volatile std::size_t huge = SIZE_MAX / 2;
        ::operator delete(::operator new(huge));
    } catch (const std::bad_alloc &) {
        std::puts("too large");
    }
    std::printf("%d\n", aligned);
}
