#include "data/text/corpus.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "data/stories/stories.h"

namespace inkling::data {

std::size_t Corpus::bytes() const {
    std::size_t sum = 0;
    for (const std::string_view document : documents) sum += document.size();
    return sum;
}

void Corpus::begin_source(std::shared_ptr<const void> owner, std::string source) {
    first.push_back(documents.size());
    sources.push_back(std::move(source));
    owners_.push_back(std::move(owner));
}

void Corpus::add_document(std::string_view text) {
    ContentHash hash;
    hash.add(text);
    add_document(text, hash.value());
}

void Corpus::add_document(std::string_view text, std::uint64_t hash_of_text) {
    documents.push_back(text);
    content_.add_number(hash_of_text);
}

void Corpus::add(std::string text, std::string source) {
    Text owned = keep_text(std::move(text));
    begin_source(std::move(owned.owner), std::move(source));
    add_document(owned.bytes);
}

void Corpus::add_ids(const StoredIds& stored) {
    add_document(stored.bytes);
    content_.add_number(stored.layout.bytes * 2 + stored.layout.has_sign);
    ids.push_back(stored.layout);
}

std::string Corpus::skipped_list() const {
    std::size_t files = 0;
    std::vector<std::string> parts;
    for (const auto& [reason, n] : skipped) {
        files += n;
        parts.push_back(fmt::format("{} {}", n, reason));
    }
    if (files == 0) return "";
    const std::string which = files == 1 || parts.size() == 1 ? fmt::format(", such as {}", first_skipped) : "";
    return fmt::format("skipped {} file{}: {}{}", files, files == 1 ? "" : "s", fmt::join(parts, ", "), which);
}

std::vector<std::string> Corpus::notes() const {
    std::vector<std::string> all;
    if (!skipped.empty()) all.push_back(skipped_list());
    if (replaced > 0)
        all.push_back(fmt::format("replaced {} byte{} that {} not UTF-8 by U+FFFD, the first in {}", replaced,
                                  replaced == 1 ? "" : "s", replaced == 1 ? "is" : "are", first_replaced));
    if (bad_lines > 0)
        all.push_back(
            fmt::format("skipped {} bad line{}, such as {}", bad_lines, bad_lines == 1 ? "" : "s", first_bad_line));
    if (empty_records > 0)
        all.push_back(fmt::format("skipped {} record{} without text", empty_records, empty_records == 1 ? "" : "s"));
    return all;
}

std::string Corpus::name() const {
    if (sources.size() <= 3) return fmt::format("{}", fmt::join(sources, ", "));
    return fmt::format("{} and {} more files", sources[0], sources.size() - 1);
}

void Corpus::take_examples(std::vector<Example> all) {
    examples = std::make_shared<const std::vector<Example>>(std::move(all));
    std::size_t source = 0;
    for (const Example& e : *examples) {
        while (source <= e.source) first[source++] = documents.size();
        content_.add_number(static_cast<std::uint64_t>(e.shape) * 2 + e.marked);
        for (const ChatMessage& part : e.parts) {
            for (const std::string_view text : {std::string_view(part.role), std::string_view(part.content), {}})
                content_.add_text(text);
            content_.add_number(part.learned);
            if (!part.content.empty()) documents.push_back(part.content);
        }
    }
}

std::string Corpus::place_of(const Example& example) const {
    return fmt::format("{}: {}", sources[example.source], example.place());
}

std::string Corpus::source_of(std::size_t document) const {
    const auto after = std::upper_bound(first.begin(), first.end(), document);
    const auto i = static_cast<std::size_t>(after - first.begin()) - 1;
    const std::size_t end = i + 1 < first.size() ? first[i + 1] : documents.size();
    if (end - first[i] == 1) return sources[i];
    return fmt::format("{}: record {} with text", sources[i], document - first[i] + 1);
}

Corpus stories_corpus() {
    constexpr std::uint64_t kSeed = 1;
    constexpr std::size_t kBytes = 8'000'000;
    Corpus corpus;
    std::string text = generate_stories(kSeed, kBytes);
    text.pop_back();  // one line end is enough: two, with no story behind, would be a token of their own
    corpus.add(std::move(text), "the built-in stories");
    return corpus;
}

}  // namespace inkling::data
