// Texts of a template whose bytes remember their source. User text stays marked through all operations of a template,
// so it is never taken for the template's own marks.
//   Text all;
//   all.add("<|im_start|>user\n");                // from the template
//   all.add(Text("Hello", 3));                    // from source 3
//   all.part(0, 20);                              // spans are cut with the bytes
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::formats::jinja {

// Bytes [begin, end) come from a source. An empty span marks the place of an empty text.
struct Span {
    std::size_t begin, end;
    std::int32_t source;
    bool operator==(const Span&) const = default;
};

struct Text {
    std::string bytes;
    std::vector<Span> spans;  // in no order; they may overlap

    Text() = default;
    explicit Text(std::string own) : bytes(std::move(own)) {}
    explicit Text(const char* own) : bytes(own) {}
    Text(std::string from, std::int32_t source) : bytes(std::move(from)), spans{{0, bytes.size(), source}} {}

    void add(std::string_view own) { bytes += own; }
    void add(const Text& text);
    Text part(std::size_t begin, std::size_t end) const;
    // change(character, out) appends the replacement of each character. Throws BadInput for invalid UTF-8.
    Text mapped(const std::function<void(std::string_view character, std::string& out)>& change) const;
    std::size_t memory() const { return sizeof(Text) + bytes.size() + spans.size() * sizeof(Span); }
};

// The beginnings of the characters, and the end.
std::vector<std::size_t> character_places(std::string_view text);
std::size_t count_characters(std::string_view text);
// std::string_view::find in linear time.
std::size_t find_in(std::string_view all, std::string_view part, std::size_t from = 0);

bool is_python_space(char32_t c);
bool is_letter(char32_t c);

enum class Letters { upper, lower, title };
// Python's case mapping of a letter, which may give several. Throws BadInput for letters whose mapping depends on their
// context.
void change_letter(std::string_view character, Letters to, std::string& out);

}  // namespace inkling::formats::jinja
