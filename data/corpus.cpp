#include "data/corpus.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "data/file.h"
#include "data/utf8.h"
#include "engine/check.h"

namespace inkling::data {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

void add(Corpus& corpus, std::string_view text, const std::string& source) {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    if (!corpus.text.empty() && corpus.text.back() != '\n') corpus.text += '\n';
    corpus.starts.push_back(corpus.text.size());
    corpus.text += text;
    corpus.sources.push_back(source);
}

void add_checked(Corpus& corpus, std::string_view text, const std::string& source) {
    check<BadInput>(!text.empty() && text != byte_order_mark, "{}: is empty: name a file that holds text", source);
    const std::size_t at = find_invalid_utf8(text);
    check<BadInput>(at == std::string_view::npos,
                    "{}: not UTF-8: byte {} is 0x{:02X}: convert it first, e.g. with iconv -t UTF-8", source, at,
                    static_cast<unsigned char>(at < text.size() ? text[at] : 0));
    add(corpus, text, source);
}

// Whether a NUL is among the first bytes: spares reading large binary files whole. A file that does not open is not
// judged here.
bool looks_binary(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::array<char, 4096> head;
    in.read(head.data(), head.size());
    const auto end = head.begin() + in.gcount();
    return std::find(head.begin(), end, '\0') != end;
}

bool is_text(std::string_view bytes) {
    return bytes.find('\0') == std::string_view::npos && find_invalid_utf8(bytes) == std::string_view::npos;
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
        const std::string text = looks_binary(file) ? std::string(1, '\0') : read_file(file);
        if (!is_text(text)) {
            corpus.skipped.push_back(file.string());
        } else if (!text.empty() && text != byte_order_mark) {
            add(corpus, text, file.string());
        }
    }
    check<BadInput>(corpus.sources.size() > sources_before, "{}: the folder has no UTF-8 text file: name one that has",
                    folder);
}

}  // namespace

std::vector<std::string_view> Corpus::documents() const {
    std::vector<std::string_view> result;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : text.size();
        result.push_back(std::string_view(text).substr(starts[i], end - starts[i]));
    }
    return result;
}

std::string Corpus::skipped_note() const {
    if (skipped.empty()) return "";
    if (skipped.size() == 1) return fmt::format("left out, because it is not UTF-8 text: {}", skipped[0]);
    return fmt::format("left out, because they are not UTF-8 text: {} and {} more", skipped[0], skipped.size() - 1);
}

std::vector<std::int32_t> encode_documents(const Tokenizer& tokenizer, const std::vector<std::string_view>& documents) {
    std::vector<std::int32_t> ids;
    for (const std::string_view document : documents) {
        if (!ids.empty() && tokenizer.end_of_text()) ids.push_back(*tokenizer.end_of_text());
        std::vector<std::int32_t> more = tokenizer.encode(document);
        if (ids.empty())
            ids = std::move(more);
        else
            ids.insert(ids.end(), more.begin(), more.end());
    }
    return ids;
}

Corpus read_corpus(const std::vector<std::string>& paths) { return read_corpus(paths, std::cin); }

Corpus read_corpus(const std::vector<std::string>& paths, std::istream& standard_input) {
    Corpus corpus;
    for (const std::string& path : paths) {
        std::error_code error;  // read_file says what is wrong with a path that cannot be looked at
        if (path == "-") {
            add_checked(corpus, std::string(std::istreambuf_iterator<char>(standard_input), {}), "standard input");
        } else if (fs::is_directory(path, error)) {
            add_folder(corpus, path);
        } else {
            add_checked(corpus, read_file(path), path);
        }
    }
    check<BadInput>(!paths.empty(), "no text was named: give at least one file, folder or - for standard input");
    return corpus;
}

}  // namespace inkling::data
