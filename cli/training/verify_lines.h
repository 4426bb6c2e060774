// What `inkling verify` prints: a line for each thing that it checked, as text or as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "train/run/verify.h"

namespace inkling::cli {

// The current state of the text that a run was trained on. `not_checked`: why not; "" if it was.
struct CheckedText {
    std::string name, problem, not_checked;
};

class VerifyLines {
  public:
    explicit VerifyLines(bool json) : json_(json) {}

    void line(const nlohmann::ordered_json& keys, const std::string& text) const;
    void say(const train::CheckedCheckpoint& checkpoint);
    void say(const train::CheckedLink& link, bool repairable);  // repairable: by --resume auto
    void say(const CheckedText& text);
    void say_problem(const char* event, const std::string& problem, const std::string& of = "");  // "OF: PROBLEM"

    std::size_t problems = 0;

  private:
    bool json_;
};

}  // namespace inkling::cli
