#include "cli/training/verify_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "formats/json.h"

namespace inkling::cli {
namespace {

using nlohmann::ordered_json;

ordered_json or_null(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }

}  // namespace

void VerifyLines::line(const ordered_json& keys, const std::string& text) const {
    print((json_ ? formats::json_text(keys) : text) + "\n");
}

void VerifyLines::say(const train::CheckedCheckpoint& c) {
    problems += !c.problem.empty();
    std::string text = fmt::format("{}: {}", c.folder.filename().string(),
                                   c.problem.empty() ? "whole" : fmt::format("damaged: {}", c.problem));
    if (std::isfinite(c.val_loss)) text += fmt::format(", validation loss {:.4f}", c.val_loss);
    line({{"event", "checkpoint"},
          {"folder", c.folder.string()},
          {"whole", c.problem.empty()},
          {"val_loss", c.val_loss},
          {"problem", or_null(c.problem)}},
         text);
}

void VerifyLines::say(const train::CheckedLink& link, bool repairable) {
    problems += !link.problem.empty();
    if (link.target.empty() && link.problem.empty()) return;  // no `best`: nothing was evaluated
    line({{"event", "link"}, {"name", link.name}, {"target", or_null(link.target)}, {"problem", or_null(link.problem)}},
         link.problem.empty()
             ? fmt::format("{}: points to {}", link.name, link.target)
             : fmt::format("{}: {}{}", link.name, link.problem, repairable ? ": --resume auto repairs it" : ""));
}

void VerifyLines::say(const CheckedText& text) {
    problems += !text.problem.empty();
    line({{"event", "text"},
          {"name", text.name},
          {"checked", text.not_checked.empty()},
          {"problem", or_null(text.problem.empty() ? text.not_checked : text.problem)}},
         fmt::format("text: {}: {}", text.name,
                     !text.not_checked.empty() ? "not checked: " + text.not_checked
                     : text.problem.empty()    ? "the training text"
                                               : text.problem));
}

void VerifyLines::say_problem(const char* event, const std::string& problem, const std::string& of) {
    ++problems;
    line({{"event", event}, {"problem", problem}}, of.empty() ? problem : fmt::format("{}: {}", of, problem));
}

}  // namespace inkling::cli
