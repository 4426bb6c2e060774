// read_corpus(): what is text in files, folders and standard input.
#include "data/text/corpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "data/text/examples.h"
#include "data/text/folders.h"
#include "data/text/records.h"
#include "engine/base/check.h"
#include "formats/files/file.h"
#include "formats/named.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Reads sources into a corpus.
class Reader {
  public:
    Reader(const CorpusOptions& options, const ReadSome& standard_input)
        : options_(options), standard_input_(standard_input) {
        check<BadInput>(options.text_field.empty() || options.text_column.empty(),
                        "--text-field is for JSON lines and --text-column for CSV: give one of them");
    }

    void add(const std::string& path) {
        if (path == "-") {
            add_text(standard_input_ ? read_unpacked(standard_input_, "standard input") : open_unpacked(path),
                     "standard input", From::stream);
        } else if (formats::is_there(path) || !is_pattern(path)) {
            add_path(path);
        } else {
            add_matches(path);
        }
    }

    Corpus take() {
        if (!examples_source_.empty()) {
            check<BadInput>(corpus.documents.empty(),
                            "{} holds one document a line, and {} is other text: give one or the other",
                            examples_source_, other_text_);
            if (examples_.empty()) throw BadInput("nothing is left to read: " + corpus.notes().back());
            corpus.take_examples(std::move(examples_));
        }
        check<BadInput>(!corpus.documents.empty(), "nothing is left to read{}", skipped_list());
        check<BadInput>(corpus.ids.empty() || corpus.ids.size() == corpus.documents.size(),
                        "{}: some of these hold token ids, and others text: give one or the other", corpus.name());
        if (const bool fields = !options_.text_field.empty(); (fields || !options_.text_column.empty()) && !records_)
            check<BadInput>(false, "{} is for files that end in {}, and there is none",
                            fields ? "--text-field" : "--text-column", fields ? ".jsonl" : ".csv");
        return std::move(corpus);
    }

    Corpus corpus;

  private:
    enum class From { name, folder, stream };  // a file that was named, or found

    void add_path(const std::string& path) {
        if (formats::is_folder(path)) return add_folder(path);
        if (is_excluded(fs::path(path).filename().string(), options_.exclude)) return skip("excluded", path);
        if (names_token_ids(path)) return add_ids(path);
        std::error_code none;
        add_text(open_unpacked(path), path, fs::is_fifo(path, none) ? From::stream : From::name);
    }

    void add_matches(const std::string& pattern) {
        const std::size_t before = corpus.sources.size();
        const std::size_t fixed = pattern.substr(0, pattern.find_first_of("*?[")).rfind('/') + 1;  // npos + 1 is 0
        for (const std::string& path : matching_paths(pattern)) {
            if (is_excluded(std::string_view(path).substr(fixed), options_.exclude)) {
                skip("excluded", path);
            } else if (formats::is_folder(path)) {
                add_files_of(path);
            } else if (std::error_code none; fs::is_regular_file(path, none)) {
                add_found(path);
            }
        }
        check<BadInput>(corpus.sources.size() > before, "{}: no file of text matches{}", pattern, skipped_list());
    }

    void add_folder(const std::string& folder) {
        const std::size_t before = corpus.sources.size();
        add_files_of(folder);
        check<BadInput>(corpus.sources.size() > before,
                        "{}: the folder has no UTF-8 text file{}: name a folder with text", folder, skipped_list());
    }

    void add_files_of(const std::string& folder) {
        const FoundFiles found = find_files(folder, options_.exclude);
        for (const auto& [reason, path, files] : found.skipped) skip(reason, path, files);
        for (const fs::path& file : found.files) add_found(file.string());
    }

    // Skips files that are not text.
    void add_found(const std::string& file) {
        try {
            add_text(open_unpacked(file), file, From::folder);
        } catch (const NoText& e) {
            skip(e.kind, file);
        }
    }

    void skip(const std::string& reason, const std::string& path, std::size_t files = 1) {
        if (files == 0) return;
        if (corpus.skipped.empty()) corpus.first_skipped = path;
        const bool many = corpus.skipped.size() > 8 && !corpus.skipped.contains(reason);
        corpus.skipped[many ? "in hidden folders" : reason] += files;
    }

    std::string skipped_list() const {
        const std::string list = corpus.skipped_list();
        return list.empty() ? "" : fmt::format(" ({})", list);
    }

    void add_text(Text text, const std::string& source, From from) {
        if (text.bytes.starts_with(byte_order_mark)) text.bytes.remove_prefix(byte_order_mark.size());
        if (text.bytes.empty()) throw NoText(source + ": it is empty: name a file with text", "empty");
        TextScan scan = scan_text(text.bytes, source);
        if (const std::size_t at = scan.invalid; at != std::string_view::npos) {
            const std::string_view before = text.bytes.substr(0, at);
            const auto line = 1 + std::count(before.begin(), before.end(), '\n');
            if (!options_.lossy) {
                throw NoText(fmt::format("{}: not UTF-8: byte {} is 0x{:02X}, in line {}: convert it first, e.g. with "
                                         "iconv -t UTF-8, or have such bytes replaced with --lossy",
                                         source, at, static_cast<unsigned char>(text.bytes[at]), line),
                             "not UTF-8");
            }
            if (corpus.replaced == 0) corpus.first_replaced = fmt::format("{}, line {}", source, line);
            text = replaced(text.bytes, at);
            scan = scan_text(text.bytes, source);
        }
        const bool stream = from == From::stream, fields = !options_.text_field.empty();
        const RecordKind kind = stream ? RecordKind::none : record_kind(source);
        if (fields && (stream || kind == RecordKind::json_lines || (kind == RecordKind::json && from == From::name)))
            return add_records(RecordKind::json_lines, text.bytes, options_.text_field, source);
        if (!options_.text_column.empty() && (stream || kind == RecordKind::csv))
            return add_records(RecordKind::csv, text.bytes, options_.text_column, source);
        const ExampleLayout layout = layout_in(text.bytes, kind, from, source);
        if (layout != ExampleLayout::none) return add_examples(text.bytes, layout, source);
        corpus.begin_source(std::move(text.owner), source);
        corpus.add_document(text.bytes, scan.hash);
        other_text_ = source;
    }

    void add_ids(const std::string& path) {
        Text file = open_text(path);
        const StoredIds stored = find_token_ids(file.bytes, path);
        corpus.begin_source(std::move(file.owner), path);
        corpus.add_ids(stored);
        other_text_ = path;
    }

    // JSON is never taken for text unasked. It is asked for by another name, such as .txt.
    static ExampleLayout layout_in(std::string_view text, RecordKind kind, From from, const std::string& source) {
        if (kind == RecordKind::json_lines) return ExampleLayout::lines;
        if (kind != RecordKind::json && from != From::stream) return ExampleLayout::none;
        const ExampleLayout layout = layout_of(text, from != From::folder);
        if (kind == RecordKind::json && layout == ExampleLayout::none)
            throw NoText(source +
                             ": it holds no documents, an object a line or a list of objects: to have it read as "
                             "text, give it a name that ends in .txt",
                         "JSON of other kinds");
        return layout;
    }

    void add_examples(std::string_view text, ExampleLayout layout, const std::string& source) {
        ExampleLines found =
            formats::named(source, [&] { return read_examples(text, options_.skip_bad_lines, layout); });
        if (found.list.empty() && found.bad_lines == 0) throw NoText(source + ": it holds no documents", "empty");
        if (found.bad_lines > 0 && corpus.bad_lines == 0) corpus.first_bad_line = source + ": " + found.first_bad_line;
        corpus.bad_lines += found.bad_lines;
        for (Example& e : found.list) {
            e.source = corpus.sources.size();
            examples_.push_back(std::move(e));
        }
        examples_source_ = source;
        corpus.begin_source(nullptr, source);
    }

    // Replaces invalid UTF-8, the first at `at`, by U+FFFD.
    Text replaced(std::string_view text, std::size_t at) {
        GrowingText valid;
        while (at != std::string_view::npos) {
            const std::size_t size = formats::invalid_utf8_size(text, at);
            valid.append(text.substr(0, at));
            valid.append("\xEF\xBF\xBD");
            corpus.replaced += size;
            text.remove_prefix(at + size);
            at = formats::find_invalid_utf8(text);
        }
        valid.append(text);
        return valid.take();
    }

    void add_records(RecordKind kind, std::string_view table, const std::string& field, const std::string& source) {
        GrowingText texts;
        std::vector<std::size_t> ends;
        formats::named(source, [&] {
            read_records(kind, table, field, [&](std::string_view record) {
                if (record.empty()) return static_cast<void>(++corpus.empty_records);
                texts.append(record);
                ends.push_back(texts.size());
            });
        });
        records_ = true;
        other_text_ = source;
        if (ends.empty()) throw NoText(source + ": it has no record with text", "empty");
        Text all = texts.take();
        corpus.begin_source(std::move(all.owner), source);
        std::size_t begin = 0;
        for (const std::size_t end : ends) {
            corpus.add_document(all.bytes.substr(begin, end - begin));
            begin = end;
        }
    }

    const CorpusOptions& options_;
    const ReadSome& standard_input_;
    bool records_ = false;  // a table was read
    std::vector<Example> examples_;
    std::string examples_source_, other_text_;  // a source of documents in lines, and one of text
};

}  // namespace

Corpus read_corpus(const std::vector<std::string>& paths, const CorpusOptions& options,
                   const ReadSome& standard_input) {
    check<BadInput>(!paths.empty(), "no text was given: give at least one file, folder or - for standard input");
    Reader reader(options, standard_input);
    for (const std::string& path : paths) reader.add(path);
    return reader.take();
}

}  // namespace inkling::data
