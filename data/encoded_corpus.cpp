#include "data/encoded_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "data/content_hash.h"
#include "engine/base/check.h"
#include "formats/files/directory.h"

namespace inkling::data {
namespace {

namespace fs = std::filesystem;

// A cache file is the ids, in the byte order of memory, followed by this trailer. Its last letter is '1' where ids have
// 4 bytes, '2' where they have 2.
struct Trailer {
    char magic[8] = {'I', 'N', 'K', 'T', 'O', 'K', '0', '1'};
    std::uint64_t key = 0, count = 0, bytes = 0, checksum = 0;  // bytes of text; checksum of the ids and bytes
};

// The ids with `bytes_each` in memory; `narrow` holds them when these are 2.
std::string_view bytes_of(std::span<const std::int32_t> ids, std::size_t bytes_each,
                          std::vector<std::uint16_t>& narrow) {
    if (bytes_each == 4) return {reinterpret_cast<const char*>(ids.data()), ids.size_bytes()};
    narrow.assign(ids.begin(), ids.end());
    return {reinterpret_cast<const char*>(narrow.data()), 2 * narrow.size()};
}

UnknownCharacters::Tally tally_of(const Tokenizer& tokenizer) {
    return tokenizer.unknown ? tokenizer.unknown->tally() : UnknownCharacters::Tally();
}

// Calls take(ids) for the whole corpus, part by part. Returns the bytes of text.
template <class Take>
std::size_t encode_parts(const Tokenizer& tokenizer, const std::vector<std::string_view>& documents,
                         const EncodeOptions& options, const Take& take) {
    constexpr std::size_t report_interval = 16 << 20;  // bytes of text
    std::size_t all = 0, done = 0, reported = 0, added = 0;
    const UnknownCharacters::Tally tally_before = tally_of(tokenizer);
    using Ids = std::vector<std::int32_t>;
    const Ids before = options.marks ? tokenizer.marks_before() : Ids();
    const Ids after = options.marks ? tokenizer.marks_after() : Ids();
    const auto end = tokenizer.end_of_text();
    for (const std::string_view document : documents) all += document.size();
    for (std::size_t i = 0; i < documents.size(); ++i) {
        const std::string_view text = documents[i];
        if (i > 0 && end && after.empty()) take(std::span(&*end, 1));
        take(std::span(before));
        try {
            tokenizer.encode_parts(text, [&](std::span<const std::int32_t> ids, std::size_t upto) {
                take(ids);
                if (!options.progress || (done + upto < reported + report_interval && done + upto < all)) return;
                reported = done + upto;
                options.progress(reported, all);
            });
        } catch (const BadInput& e) {
            if (!options.name) throw;
            throw BadInput(options.name(i) + ": " + e.what());
        }
        done += text.size();
        take(std::span(after));
        const bool open_line = i + 1 < documents.size() && !text.empty() && text.back() != '\n';
        if (open_line && !end && before.empty() && after.empty()) {
            take(std::span<const std::int32_t>(tokenizer.encode("\n")));
            ++added;
        }
    }
    const UnknownCharacters::Tally tally = tally_of(tokenizer);
    return done + added + (tally.bytes_more - tally_before.bytes_more) - (tally.bytes_less - tally_before.bytes_less);
}

std::uint64_t checksum_of(ContentHash ids, std::uint64_t bytes) {
    ids.add({reinterpret_cast<const char*>(&bytes), sizeof bytes});
    return ids.value();
}

std::uint64_t content_key(const Tokenizer& tokenizer, const std::vector<std::string_view>& documents) {
    ContentHash hash;
    const auto add = [&](std::string_view text) {
        const std::uint64_t size = text.size();
        hash.add({reinterpret_cast<const char*>(&size), sizeof size});
        hash.add(text);
    };
    add(tokenizer.to_json());
    if (!tokenizer.marks_before().empty() || !tokenizer.marks_after().empty()) add("with marks");
    for (const std::string_view document : documents) add(document);
    return hash.value();
}

// The ids in the file, if it exists, is complete, and belongs to this corpus.
std::optional<EncodedCorpus> read_ids(const fs::path& path, std::uint64_t key, std::size_t vocab_size) {
    if (!fs::is_regular_file(path)) return std::nullopt;
    EncodedCorpus corpus;
    Trailer trailer;
    Trailer expected;
    try {
        corpus.file = formats::MappedFile(path);
    } catch (const BadInput&) {
        return std::nullopt;
    }
    const std::size_t size = corpus.file.size();
    if (size < sizeof trailer) return std::nullopt;
    std::memcpy(&trailer, corpus.file.data() + size - sizeof trailer, sizeof trailer);
    const std::size_t bytes_each = trailer.magic[7] == '2' ? 2 : 4, ids_size = size - sizeof trailer;
    if (bytes_each == 2) expected.magic[7] = '2';
    if (std::memcmp(trailer.magic, expected.magic, sizeof trailer.magic) != 0 || trailer.key != key ||
        ids_size % bytes_each != 0 || trailer.count != ids_size / bytes_each)
        return std::nullopt;
    corpus.ids = {corpus.file.data(), trailer.count, bytes_each};
    corpus.bytes = trailer.bytes;
    corpus.from_cache = true;
    ContentHash hash;
    hash.add({reinterpret_cast<const char*>(corpus.file.data()), ids_size});
    if (checksum_of(hash, trailer.bytes) != trailer.checksum) return std::nullopt;
    for (const std::int32_t id : corpus.ids)
        if (id < 0 || static_cast<std::size_t>(id) >= vocab_size) return std::nullopt;
    return corpus;
}

// Removes cache files of other corpora and temporary files of killed writers: they may be larger than all else here.
void remove_others(const fs::path& folder, const fs::path& kept) {
    try {
        for (const std::string& name : formats::names_in(folder)) {
            const bool ids = (name.starts_with("tokens-") || name.starts_with(".tokens-")) && name.size() >= 27;
            if (ids && folder / name != kept && (name.ends_with(".bin") || name.find(".bin.tmp.") != std::string::npos))
                formats::remove_tree(folder / name);
        }
    } catch (const Error&) {  // what stays is only untidy
    }
}

}  // namespace

void GrowingIds::append(std::span<const std::int32_t> more) {
    if (more.empty()) return;
    if (size_ + more.size() > room_) {
        const std::size_t room = std::max(size_ + more.size(), room_ + room_ / 2);
        auto* const grown = static_cast<std::byte*>(std::realloc(data_.get(), room * bytes_each_));
        if (!grown) throw std::bad_alloc();
        static_cast<void>(data_.release());  // realloc has freed it
        data_.reset(grown);
        room_ = room;
    }
    if (bytes_each_ == 2)
        std::copy(more.begin(), more.end(), reinterpret_cast<std::uint16_t*>(data_.get()) + size_);
    else
        std::copy(more.begin(), more.end(), reinterpret_cast<std::int32_t*>(data_.get()) + size_);
    size_ += more.size();
}

EncodedCorpus encode_corpus(const Tokenizer& tokenizer, const std::vector<std::string_view>& documents,
                            const EncodeOptions& options) {
    std::size_t all = 0;
    for (const std::string_view document : documents) all += document.size();
    if (options.cache.empty() || all < options.cache_from) {
        EncodedCorpus corpus;
        corpus.owned = GrowingIds(tokenizer.vocab_size());
        corpus.bytes = encode_parts(tokenizer, documents, options,
                                    [&](std::span<const std::int32_t> ids) { corpus.owned.append(ids); });
        corpus.ids = corpus.owned.ids();
        return corpus;
    }
    Trailer trailer;
    trailer.key = content_key(tokenizer, documents);
    const std::size_t replaced_before = tally_of(tokenizer).characters;
    const fs::path path = options.cache / fmt::format("tokens-{:016x}.bin", trailer.key);
    if (auto found = read_ids(path, trailer.key, tokenizer.vocab_size())) return std::move(*found);
    std::error_code ignored;  // FileWriter says what is wrong
    fs::create_directories(options.cache, ignored);
    formats::FileWriter file(path);
    ContentHash hash;
    const std::size_t bytes_each = id_bytes(tokenizer.vocab_size());
    if (bytes_each == 2) trailer.magic[7] = '2';
    std::vector<std::uint16_t> narrow;
    trailer.bytes = encode_parts(tokenizer, documents, options, [&](std::span<const std::int32_t> ids) {
        const std::string_view bytes = bytes_of(ids, bytes_each, narrow);
        file.write(bytes.data(), bytes.size());
        hash.add(bytes);
        trailer.count += ids.size();
    });
    trailer.checksum = checksum_of(hash, trailer.bytes);
    file.write(&trailer, sizeof trailer);
    file.commit();
    remove_others(options.cache, path);
    auto made = read_ids(path, trailer.key, tokenizer.vocab_size());
    check(made.has_value(), "{}: what was written there cannot be read back", path.string());
    made->from_cache = false;
    // Where characters were replaced the next start must say so, or refuse them: the file goes, the ids stay mapped.
    if (tally_of(tokenizer).characters > replaced_before) fs::remove(path, ignored);
    return std::move(*made);
}

}  // namespace inkling::data
