// Long computations check between their parts whether to continue, so that Ctrl-C ends them soon:
//   const Interruptible scope([&] { return signal != 0; });   // on this thread, to the end of the scope
//   model.prefill(cache, prompt, logits);                     // throws Interrupted soon after the signal
// Transformer::hidden checks before each layer, and Transformer::loss also before the head; both leave everything
// unchanged.
#pragma once

#include <exception>
#include <functional>
#include <utility>

namespace inkling {

struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

class Interruptible {
  public:
    explicit Interruptible(std::function<bool()> asked) : asked_(std::move(asked)), outer_(innermost()) {
        innermost() = this;
    }
    ~Interruptible() { innermost() = outer_; }
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    static void check() {
        for (const Interruptible* scope = innermost(); scope; scope = scope->outer_)
            if (scope->asked_()) throw Interrupted();
    }

  private:
    static const Interruptible*& innermost() {
        thread_local const Interruptible* scope = nullptr;
        return scope;
    }

    std::function<bool()> asked_;
    const Interruptible* outer_;
};

}  // namespace inkling
