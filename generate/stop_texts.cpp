#include "generate/stop_texts.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace inkling::generate {

StopTexts::StopTexts(std::vector<std::string> stops) : stops_(std::move(stops)) {
    for (const std::string& stop : stops_) check(!stop.empty(), "a stop text must not be empty");
}

std::string StopTexts::push(std::string_view piece) {
    if (found_) return "";
    for (const char c : piece) {
        held_ += c;
        std::size_t longest = 0;
        for (const std::string& stop : stops_)
            if (held_.ends_with(stop)) longest = std::max(longest, stop.size());
        if (longest == 0) continue;
        found_ = true;
        held_.resize(held_.size() - longest);
        return finish();
    }
    std::size_t kept = 0;  // the longest end that begins a stop text
    for (const std::string& stop : stops_) {
        for (std::size_t n = std::min(stop.size() - 1, held_.size()); n > kept; --n)
            if (held_.ends_with(std::string_view(stop).substr(0, n))) kept = n;
    }
    std::string certain = held_.substr(0, held_.size() - kept);
    held_.erase(0, certain.size());
    return certain;
}

std::string StopTexts::finish() { return std::exchange(held_, ""); }

}  // namespace inkling::generate
