#include "data/corpus.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "engine/check.h"
#include "formats/file.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

void add(Corpus& corpus, Text text, const std::string& source) {
    if (text.bytes.starts_with(byte_order_mark)) text.bytes.remove_prefix(byte_order_mark.size());
    corpus.add(text.bytes, std::move(text.owner), source);
}

void add_checked(Corpus& corpus, Text text, const std::string& source) {
    check<BadInput>(!text.bytes.empty() && text.bytes != byte_order_mark, "{}: it is empty: name a file with text",
                    source);
    const std::size_t at = formats::find_invalid_utf8(text.bytes);
    check<BadInput>(at == std::string_view::npos,
                    "{}: not UTF-8: byte {} is 0x{:02X}: convert it first, e.g. with iconv -t UTF-8", source, at,
                    static_cast<unsigned char>(at < text.bytes.size() ? text.bytes[at] : 0));
    add(corpus, std::move(text), source);
}

// Whether a NUL is among the first bytes, so that large binary files need not be read whole. False for a file that
// cannot be opened.
bool looks_binary(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::array<char, 4096> head;
    in.read(head.data(), head.size());
    const std::string_view bytes(head.data(), static_cast<std::size_t>(in.gcount()));
    return formats::compression_of(bytes) == formats::Compression::none && bytes.find('\0') != std::string_view::npos;
}

// A text in a folder; one byte, which no text is, for what is none.
Text open_found(const std::string& file) {
    constexpr std::string_view no_text("\xFF", 1);
    if (looks_binary(file) || formats::has_hole(file)) return {no_text, nullptr};
    try {
        return open_unpacked(file);
    } catch (const NoText&) {
        return {no_text, nullptr};
    }
}

// Regular files below a folder, none hidden, in the order of their paths.
std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        std::error_code gone;  // e.g. a symbolic link to nothing: not a regular file
        if (entry->path().filename().string().starts_with('.')) {
            entry.disable_recursion_pending();
        } else if (entry->is_regular_file(gone)) {
            files.push_back(entry->path());
        }
    }
    check<BadInput>(!error, "{}: cannot list the folder: {}", folder.string(), error.message());
    std::sort(files.begin(), files.end());
    return files;
}

void add_folder(Corpus& corpus, const std::string& folder) {
    const std::size_t sources_before = corpus.sources.size();
    for (const fs::path& file : files_below(folder)) {
        Text text = open_found(file.string());
        if (formats::find_invalid_utf8(text.bytes) != std::string_view::npos) {
            corpus.skipped.push_back(file.string());
        } else if (!text.bytes.empty() && text.bytes != byte_order_mark) {
            add(corpus, std::move(text), file.string());
        }
    }
    check<BadInput>(corpus.sources.size() > sources_before,
                    "{}: the folder has no UTF-8 text file: name a folder with text", folder);
}

}  // namespace

std::size_t Corpus::bytes() const {
    std::size_t sum = 0;
    for (const std::string_view document : documents) sum += document.size();
    return sum;
}

void Corpus::add(std::string_view text, std::shared_ptr<const void> owner, std::string source) {
    documents.push_back(text);
    sources.push_back(std::move(source));
    owners_.push_back(std::move(owner));
}

void Corpus::add(std::string text, std::string source) {
    Text owned = keep_text(std::move(text));
    add(owned.bytes, std::move(owned.owner), std::move(source));
}

std::string Corpus::skipped_note() const {
    if (skipped.empty()) return "";
    if (skipped.size() == 1) return fmt::format("skipped, because it is not UTF-8 text: {}", skipped[0]);
    return fmt::format("skipped, because they are not UTF-8 text: {} and {} more", skipped[0], skipped.size() - 1);
}

std::string Corpus::name() const {
    if (sources.size() <= 3) return fmt::format("{}", fmt::join(sources, ", "));
    return fmt::format("{} and {} more files", sources[0], sources.size() - 1);
}

Corpus read_corpus(const std::vector<std::string>& paths, const ReadSome& standard_input) {
    Corpus corpus;
    for (const std::string& path : paths) {
        if (path == "-") {
            add_checked(corpus, standard_input ? read_unpacked(standard_input, "standard input") : open_unpacked(path),
                        "standard input");
        } else if (formats::is_folder(path)) {
            add_folder(corpus, path);
        } else {
            add_checked(corpus, open_unpacked(path), path);
        }
    }
    check<BadInput>(!paths.empty(), "no text was given: give at least one file, folder or - for standard input");
    return corpus;
}

}  // namespace inkling::data
