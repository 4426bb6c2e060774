#include "data/text/token_ids.h"

#include <algorithm>
#include <cstring>
#include <regex>
#include <vector>

#include "data/token_view.h"
#include "engine/base/check.h"
#include "engine/base/names.h"

namespace inkling::data {
namespace {

constexpr std::string_view kNpy = "\x93NUMPY";

template <class Id>
void each_block(std::string_view bytes, std::size_t vocab_size,
                const std::function<void(std::span<const std::int32_t>)>& take) {
    constexpr std::size_t kBlock = 1 << 16;
    std::vector<std::int32_t> block;
    const std::size_t n = bytes.size() / sizeof(Id);
    for (std::size_t i = 0; i < n; ++i) {
        Id id;
        std::memcpy(&id, bytes.data() + i * sizeof id, sizeof id);
        check<BadInput>(static_cast<std::uint64_t>(id) < vocab_size,  // also a negative one
                        "id {} at position {} is outside the vocabulary of {}", id, i, vocab_size);
        block.push_back(static_cast<std::int32_t>(id));
        if (block.size() < kBlock && i + 1 < n) continue;
        take(block);
        block.clear();
    }
}

}  // namespace

bool names_token_ids(std::string_view path) { return path.ends_with(".npy") || path.ends_with(".bin"); }

StoredIds find_token_ids(std::string_view file, const std::string& path) {
    if (!path.ends_with(".npy")) {
        check<BadInput>(
            !file.empty() && file.size() % 2 == 0,
            "{}: .bin files hold token ids, uint16 or uint32: this one has {} bytes: give text another name", path,
            file.size());
        return {file, {}};
    }
    // numpy.lib.format: the magic, a version, the length of the header in 2 bytes (4 from version 2 on), the header
    const std::size_t length_bytes = file.size() > 6 && file[6] == 1 ? 2 : 4, at = 8 + length_bytes;
    std::uint32_t length = 0;
    check<BadInput>(file.starts_with(kNpy) && file.size() >= at, "{}: is no .npy file", path);
    std::memcpy(&length, file.data() + 8, length_bytes);
    const std::string header(file.substr(at, length));
    std::smatch type, shape;
    check<BadInput>(std::regex_search(header, type, std::regex(R"('descr': '[<|]([iu])([1248])')")) &&
                        std::regex_search(header, shape, std::regex(R"('shape': \((\d{1,18}),\))")),
                    "{}: expected an array of one axis of little endian integers, got {}", path, shown_name(header));
    const IdLayout layout{std::stoul(type[2]), type[1] == "i"};
    const std::string_view ids = file.substr(std::min(file.size(), at + length));
    check<BadInput>(
        ids.size() / layout.bytes == std::stoull(shape[1]) && ids.size() % layout.bytes == 0 && !ids.empty(),
        "{}: is cut, or holds nothing: {} bytes of ids for the shape ({},)", path, ids.size(), shape[1].str());
    return {ids, layout};
}

void each_token_id(const StoredIds& stored, std::size_t vocab_size,
                   const std::function<void(std::span<const std::int32_t>)>& take) {
    const std::string_view bytes = stored.bytes;
    if (stored.layout.bytes == 0) {
        const std::size_t width = id_bytes(vocab_size);
        bool gaps = width == 2 && bytes.size() % 4 == 0;
        for (std::size_t i = 2; gaps && i < bytes.size(); i += 4) gaps = bytes[i] == 0 && bytes[i + 1] == 0;
        check<BadInput>(!gaps,
                        "every second id is 0: with a vocabulary of {}, ids in .bin files are uint16, and these "
                        "look like uint32: save them as uint16, or as .npy",
                        vocab_size);
        check<BadInput>(bytes.size() % width == 0,
                        "with a vocabulary of {}, ids in .bin files have 4 bytes each, got "
                        "{} bytes",
                        vocab_size, bytes.size());
        return width == 2 ? each_block<std::uint16_t>(bytes, vocab_size, take)
                          : each_block<std::uint32_t>(bytes, vocab_size, take);
    }
    const bool has_sign = stored.layout.has_sign;
    switch (stored.layout.bytes) {
        case 1:
            return has_sign ? each_block<std::int8_t>(bytes, vocab_size, take)
                            : each_block<std::uint8_t>(bytes, vocab_size, take);
        case 2:
            return has_sign ? each_block<std::int16_t>(bytes, vocab_size, take)
                            : each_block<std::uint16_t>(bytes, vocab_size, take);
        case 4:
            return has_sign ? each_block<std::int32_t>(bytes, vocab_size, take)
                            : each_block<std::uint32_t>(bytes, vocab_size, take);
        default:
            return has_sign ? each_block<std::int64_t>(bytes, vocab_size, take)
                            : each_block<std::uint64_t>(bytes, vocab_size, take);
    }
}

}  // namespace inkling::data
