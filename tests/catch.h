// Includes Catch2, version 2 (Debian 12) or 3 (Debian 13); only this file knows the difference.
//   CHECK_THAT(text, contains("every", "one", "of these"));
//   CHECK_ALL(folder.size() == 2, !folder.empty());  // up to eight conditions, each a CHECK of its own
//   for (const char* name : names) WITH_INFO(name, CHECK(exists(name)));
//   TEMPLATE_TEST_CASE("sum: ...", "[engine]", float, double) { Array<T> a; }
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

#define TestType T  // in the body of a TEMPLATE_TEST_CASE

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

// One check, with what a failure tells beside it.
#define WITH_INFO(about, ...) \
    do {                      \
        INFO(about);          \
        __VA_ARGS__;          \
    } while (false)

// clang-format off
#define INKLING_CHECK_1(a) CHECK(a)
#define INKLING_CHECK_2(a, ...) CHECK(a); INKLING_CHECK_1(__VA_ARGS__)
#define INKLING_CHECK_3(a, ...) CHECK(a); INKLING_CHECK_2(__VA_ARGS__)
#define INKLING_CHECK_4(a, ...) CHECK(a); INKLING_CHECK_3(__VA_ARGS__)
#define INKLING_CHECK_5(a, ...) CHECK(a); INKLING_CHECK_4(__VA_ARGS__)
#define INKLING_CHECK_6(a, ...) CHECK(a); INKLING_CHECK_5(__VA_ARGS__)
#define INKLING_CHECK_7(a, ...) CHECK(a); INKLING_CHECK_6(__VA_ARGS__)
#define INKLING_CHECK_8(a, ...) CHECK(a); INKLING_CHECK_7(__VA_ARGS__)
#define INKLING_CHECK_COUNT(_1, _2, _3, _4, _5, _6, _7, _8, n, ...) INKLING_CHECK_##n
#define CHECK_ALL(...) do { INKLING_CHECK_COUNT(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, )(__VA_ARGS__); } while (false)
// clang-format on
