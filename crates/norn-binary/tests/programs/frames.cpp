// Names that only C++ has: members, templates, lambdas, constructors, anonymous namespaces.
namespace bank {

template <typename T>
__attribute__((noinline)) T twice(T value) {
    __asm__ volatile(".globl template_mark\ntemplate_mark: nop");
    return value + value;
}

class Account {
public:
    __attribute__((noinline)) explicit Account(int balance) : balance_(balance) {
        __asm__ volatile(".globl constructor_mark\nconstructor_mark: nop");
    }
    int deposit(int amount);

private:
    int balance_;
};

__attribute__((noinline)) int Account::deposit(int amount) {
    __asm__ volatile(".globl method_mark\nmethod_mark: nop");
    return balance_ += amount;
}

namespace {
__attribute__((noinline)) int hidden(int x) {
    __asm__ volatile(".globl hidden_mark\nhidden_mark: nop");
    return x + 1;
}
}

} // namespace bank

int main(int argc, char **) {
    bank::Account account(argc);
    auto lambda = [&](int x) __attribute__((noinline)) {
        __asm__ volatile(".globl lambda_mark\nlambda_mark: nop");
        return account.deposit(x);
    };
    return lambda(bank::twice(argc)) + bank::hidden(argc);
}
