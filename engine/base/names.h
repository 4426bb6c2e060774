// Names of enum values in flags, files and messages. Each enum has one table of names beside it:
//   enum class Precision { fp32, bf16 };
//   constexpr auto names(Precision) { return name_table<Precision>({{Precision::fp32, "fp32"}, ...}); }
//   name_of(Precision::bf16)                   // "bf16"
//   named<Precision>("--precision", "fp8")     // Error: --precision must be one of bf16, fp32, got 'fp8'
// An unknown name gets a suggestion:
//   "unknown key 'n_layers'" + did_you_mean("n_layers", {"n_layer", "n_head"})   // ..., did you mean n_layer
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace inkling {

template <class E>
struct Name {
    E value;
    const char* name;
};

template <class E, std::size_t N>
constexpr std::array<Name<E>, N> name_table(const Name<E> (&names)[N]) {
    return std::to_array(names);
}

template <class E>
constexpr const char* name_of(E value) {
    for (const auto& entry : names(E{}))
        if (entry.value == value) return entry.name;
    return "?";
}

template <class E>
std::vector<std::string> names_of() {
    std::vector<std::string> all;
    for (const auto& entry : names(E{})) all.push_back(entry.name);
    return all;
}

template <class E>
std::optional<E> find_named(std::string_view name) {
    for (const auto& entry : names(E{}))
        if (name == entry.name) return entry.value;
    return std::nullopt;
}

// The beginning of a text, of at most `bytes` bytes, that ends where a UTF-8 character ends.
std::string_view cut_text(std::string_view text, std::size_t bytes);
// The same, followed by "..." if the text is longer.
std::string shortened(std::string_view text, std::size_t bytes);

// A name from a file for a message: shortened, on one line.
std::string shown_name(std::string_view name);

// ", did you mean WORD" for the known word with these initials (--lr: --learning-rate), else the nearest by spelling,
// else the first with the same beginning or end; "" if none is near. Ignores case and leading dashes.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

[[noreturn]] void refuse_name(std::string_view what, std::string_view name, std::vector<std::string> known);

// `what` is the flag or key that takes the name. Throws Error, listing the known names.
template <class E>
E named(std::string_view what, std::string_view name) {
    const std::optional<E> found = find_named<E>(name);
    if (!found) refuse_name(what, name, names_of<E>());
    return *found;
}

}  // namespace inkling
