// Includes Catch2, version 2 (Debian 12) or 3 (Debian 13); only this file knows the difference.
//   CHECK_THAT(text, contains("every", "one", "of these"));
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
using StringMatcher = Catch::Matchers::MatcherBase<std::string>;
#else
#include <catch2/catch.hpp>
using StringMatcher = Catch::Matchers::Impl::MatcherBase<std::string>;
#endif

class ContainsAll : public StringMatcher {
  public:
    explicit ContainsAll(std::vector<std::string> parts) : parts_(std::move(parts)) {}
    bool match(const std::string& text) const override {
        const auto in_text = [&](const std::string& part) { return text.find(part) != std::string::npos; };
        return std::all_of(parts_.begin(), parts_.end(), in_text);
    }
    std::string describe() const override { return "contains: " + Catch::Detail::stringify(parts_); }

  private:
    std::vector<std::string> parts_;
};

template <class... Parts>
ContainsAll contains(const Parts&... parts) {
    return ContainsAll({std::string(parts)...});
}
