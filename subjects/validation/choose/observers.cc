// A model notifies its observers of changes; an observer reads the model when it is drawn.
// Bug (deadlock): `Model::change` calls the observers with the lock of the model held, and they take
// their own lock; `View::draw` takes the locks in the opposite order.
// Consequence: deadlock
// The twin is observers_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Observer {
public:
    virtual ~Observer() = default;
    virtual void changed(int value) = 0;
};

class Model {
public:
    void add(Observer *observer) {
        std::lock_guard<std::mutex> guard(lock_);
        observers_.push_back(observer);
    }

    void change(int value) {
#ifdef FIXED
        std::vector<Observer *> observers;
        {
            std::lock_guard<std::mutex> guard(lock_);
            value_ = value;
            observers = observers_;
        }
        for (Observer *it : observers) it->changed(value);
#else
        std::lock_guard<std::mutex> guard(lock_);
        value_ = value;
        for (Observer *it : observers_) it->changed(value);
#endif
    }

    int value() {
        std::lock_guard<std::mutex> guard(lock_);
        return value_;
    }

private:
    std::mutex lock_;
    std::vector<Observer *> observers_;
    int value_ = 0;
};

class View : public Observer {
public:
    explicit View(Model &model) : model_(model) {}

    void changed(int value) override {
        std::lock_guard<std::mutex> guard(lock_);
        shown_ = value;
        dirty_ = true;
    }

    int draw() {
        std::lock_guard<std::mutex> guard(lock_);
        if (!dirty_) return shown_;
        dirty_ = false;
        return model_.value();
    }

private:
    Model &model_;
    std::mutex lock_;
    int shown_ = 0;
    bool dirty_ = true;
};

int main() {
    Model model;
    View view(model);
    model.add(&view);
    std::thread screen([&] { assert(view.draw() >= 0); });
    std::thread user([&] {
        model.change(1);
        model.change(2);
    });
    screen.join();
    user.join();
    std::printf("%d\n", view.draw());
    assert(view.draw() == 2);
}
