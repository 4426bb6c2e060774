// One rendering of a template: its variables, its output and its limits. Templates are untrusted: steps, bytes and
// depth are counted, and exceeding a limit throws BadInput.
#pragma once

#include <deque>
#include <optional>
#include <string_view>

#include "engine/base/check.h"
#include "formats/jinja/value.h"

namespace inkling::formats::jinja {

struct Limits {
    std::size_t steps = 4'000'000, bytes = 8 << 20;  // bytes: all produced, not those held
    std::function<bool()> stop = {};                 // polled; true cancels the run
};

class Run {
  public:
    // Limits on the depth of running expressions and statements, and of lists, maps and parts of a template.
    static constexpr std::size_t kMaxDepth = 400, kMaxNested = 100;

    explicit Run(Limits limits) : limits_(std::move(limits)) {}
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    void step(std::size_t steps = 1) {
        steps_ += steps;
        if (steps_ >= next_check_) check_steps();
    }
    void make(std::size_t bytes);
    class Inside {  // a level deeper, for its lifetime
      public:
        Inside(std::size_t& depth, std::size_t most) : depth_(depth) {
            check<BadInput>(++depth <= most, "it is nested more than {} deep", most);
        }
        ~Inside() { --depth_; }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

      private:
        std::size_t& depth_;
    };
    Inside enter() {  // an expression or a statement, for the result's lifetime
        step();
        return Inside(depth_, kMaxDepth);
    }

    Value text(Text text);
    Value texts(std::vector<Text> texts);
    Value list(std::vector<Value> items, ListKind kind = ListKind::list);
    Value map(std::vector<std::pair<Value, Value>> items);
    Namespace* space() { return &spaces_.emplace_back(); }
    // Appends, and counts the bytes.
    void add(Text& to, std::string_view more) {
        make(more.size());
        to.add(more);
    }
    void add(Text& to, const Text& more) {
        make(more.memory() - sizeof(Text));
        to.add(more);
    }
    Text part(const Text& text, std::size_t begin, std::size_t end) {
        step(1 + text.spans.size() / 4);
        Text part = text.part(begin, end);
        make(part.memory());
        return part;
    }

    const Value* find(std::string_view name);
    void set(std::string_view name, Value value);  // in the innermost frame; the name must live as long as the Run
    void set_all(Value map);                       // a variable for each key
    std::size_t open();                            // a frame; returns the argument of close()
    void close(std::size_t frame);
    std::size_t frames() const { return frames_.size(); }
    // The output of body, with an empty `out` and only the variables of the outer `frames` frames.
    Text apart(std::size_t frames, const std::function<void()>& body);

    Text out;
    Value captured;  // the output of the block that a `set` or `filter` has just rendered

  private:
    void check_steps();

    Limits limits_;
    std::size_t steps_ = 0, next_check_ = 0, bytes_ = 0, depth_ = 0;
    std::deque<Namespace> spaces_;
    std::vector<Value> given_;  // maps whose keys are names of variables
    std::vector<std::pair<std::string_view, Value>> variables_;
    std::vector<std::size_t> frames_{0};  // where each begins in variables_
};

}  // namespace inkling::formats::jinja
