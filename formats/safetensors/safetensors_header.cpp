#include "formats/safetensors/safetensors_header.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/json.h"

namespace inkling::formats {
namespace {

constexpr std::uint64_t max_header = 100'000'000;  // the format's own bound; those below are ours
constexpr std::size_t max_token = 16 << 20;        // bytes of one string or number, which the lexer keeps twice
constexpr std::size_t max_tensors = 250'000, max_metadata = 100'000;
constexpr std::size_t max_dimensions = 64;  // PyTorch's
constexpr int max_depth = 8;                // a valid header needs 3

// A tensor as its entry says it, to be checked when the entry is complete.
struct Entry {
    std::string name;
    std::optional<DType> dtype;
    std::optional<std::vector<std::uint64_t>> shape, offsets;
};

// Takes the header's parts in their order. Places: outside, in the header's object, in __metadata__, in a tensor's
// entry, in the list of its shape or offsets; `ignored_` counts the levels of a value that the format does not know.
class HeaderReader final : public JsonParts {
  public:
    HeaderReader(SafetensorsHeader& header, const std::string& file)
        : JsonParts(file + ": header"), header_(header), file_(file) {}

    bool start_object(std::size_t) override {
        if (skips(+1)) return true;
        if (place_ == Place::outside) return enter(Place::header);
        if (place_ == Place::header && key_ == "__metadata__") return enter(Place::metadata);
        if (place_ != Place::header) return refuse();
        entry_ = Entry{.name = key_, .dtype = {}, .shape = {}, .offsets = {}};
        return enter(Place::entry);
    }

    bool end_object() override {
        if (skips(-1)) return true;
        if (place_ == Place::entry) add_tensor();
        return enter(place_ == Place::header ? Place::outside : Place::header);
    }

    bool start_array(std::size_t) override {
        if (skips(+1)) return true;
        if (place_ != Place::entry || (key_ != "shape" && key_ != "data_offsets")) return refuse();
        std::optional<std::vector<std::uint64_t>>& list = key_ == "shape" ? entry_.shape : entry_.offsets;
        require_new(!list);
        list.emplace();
        return enter(Place::list);
    }

    bool end_array() override { return skips(-1) || enter(Place::entry); }

    bool key(string_t& name) override {
        if (ignored_ > 0) return true;
        key_ = std::move(name);
        if (place_ == Place::header) {
            require_new(key_ == "__metadata__" ? !std::exchange(has_metadata_, true) : !header_.tensors.contains(key_));
        } else if (place_ == Place::metadata) {
            require_new(!header_.metadata.contains(key_));
        }
        return true;
    }

    bool text(string_t& text) override {
        if (skips(0)) return true;
        if (place_ == Place::metadata) {
            check<BadInput>(header_.metadata.size() < max_metadata, "{}: more than {} entries of __metadata__", file_,
                            max_metadata);
            header_.metadata.emplace(key_, std::move(text));
            return true;
        }
        if (place_ != Place::entry || key_ != "dtype") return refuse();
        require_new(!entry_.dtype);
        entry_.dtype = dtype_named(text);
        check<BadInput>(entry_.dtype.has_value(), "{}: dtype \"{}\" is unknown", where(), shown_name(text));
        return true;
    }

    bool number_unsigned(number_unsigned_t value) override {
        if (skips(0)) return true;
        if (place_ != Place::list) return refuse();
        std::vector<std::uint64_t>& list = key_ == "shape" ? *entry_.shape : *entry_.offsets;
        check<BadInput>(list.size() < max_dimensions, "{}: {} has more than {} numbers", where(), key_, max_dimensions);
        list.push_back(value);
        return true;
    }

    // nlohmann keeps apart what JSON writes apart: 1.0 and 1e2 are floats, -0 is signed, 2^64 is a float.
    bool number_integer(number_integer_t) override { return skips(0) || refuse(); }
    bool number_float(number_float_t, const string_t&) override { return skips(0) || refuse(); }
    bool boolean(bool) override { return skips(0) || refuse(); }
    bool null() override { return skips(0) || refuse(); }
    bool binary(binary_t&) override { return skips(0) || refuse(); }

  private:
    enum class Place { outside, header, metadata, entry, list };

    bool enter(Place place) {
        place_ = place;
        return true;
    }

    // Whether a value belongs to an unknown key of an entry, and is skipped.
    bool skips(int levels) {
        const bool unknown = place_ == Place::entry && key_ != "dtype" && key_ != "shape" && key_ != "data_offsets";
        if (ignored_ == 0 && (!unknown || levels < 0)) return false;
        ignored_ += levels;
        check<BadInput>(ignored_ <= max_depth - 2, "{}: JSON nested deeper than {} levels", what(), max_depth);
        return true;
    }

    void require_new(bool is_new) const {
        if (is_new) return;
        check<BadInput>(false, "{}: the key \"{}\" appears twice in one object", what(), shown_name(key_));
    }

    std::string where() const { return fmt::format("{}: tensor \"{}\"", file_, shown_name(entry_.name)); }

    // A value of the wrong kind for its place.
    bool refuse() const {
        switch (place_) {
            case Place::metadata:
                throw BadInput(fmt::format("{}: __metadata__ \"{}\" must be a string", file_, shown_name(key_)));
            case Place::entry:
                throw BadInput(fmt::format("{}: {} must be {}", where(), key_, key_ == "dtype" ? "a name" : "a list"));
            case Place::list:
                throw BadInput(fmt::format("{}: {} must hold integers from 0 to 2^64 - 1", where(), key_));
            default:
                if (key_ == "__metadata__") throw BadInput(fmt::format("{}: __metadata__ must be an object", file_));
                throw BadInput(fmt::format("{}: tensor \"{}\": dtype, shape and data_offsets are required", file_,
                                           shown_name(key_)));
        }
    }

    std::uint64_t product(std::uint64_t a, std::uint64_t b) const {
        std::uint64_t result = 0;
        if (__builtin_mul_overflow(a, b, &result))
            throw BadInput(where() + ": the shape has more elements than 64 bits count");
        return result;
    }

    void add_tensor() {
        const auto require = [&](bool present, const char* key) {
            if (!present) throw BadInput(fmt::format("{}: {} is missing", where(), key));
        };
        require(entry_.dtype.has_value(), "dtype");
        require(entry_.shape.has_value(), "shape");
        require(entry_.offsets.has_value(), "data_offsets");
        TensorInfo t{.name = entry_.name, .dtype = *entry_.dtype, .shape = std::move(*entry_.shape)};
        if (entry_.offsets->size() != 2) throw BadInput(where() + ": data_offsets must be [begin, end]");
        t.begin = entry_.offsets->front();
        t.end = entry_.offsets->back();
        for (const std::uint64_t extent : t.shape) t.count = product(t.count, extent);
        const std::uint64_t bits = product(t.count, dtype_bits(t.dtype));
        if (t.begin > t.end)
            throw BadInput(fmt::format("{}: data_offsets [{}, {}] end before they begin", where(), t.begin, t.end));
        if (bits % 8 != 0)
            throw BadInput(
                fmt::format("{}: {} elements of {} do not fill whole bytes", where(), t.count, dtype_name(t.dtype)));
        if (bits / 8 != t.end - t.begin)
            throw BadInput(fmt::format("{}: the shape takes {} bytes of {}, data_offsets [{}, {}] give {}", where(),
                                       bits / 8, dtype_name(t.dtype), t.begin, t.end, t.end - t.begin));
        check<BadInput>(header_.tensors.size() < max_tensors, "{}: more than {} tensors", file_, max_tensors);
        header_.tensors.emplace(entry_.name, std::move(t));
    }

    SafetensorsHeader& header_;
    const std::string& file_;
    Place place_ = Place::outside;
    std::string key_;
    Entry entry_;
    bool has_metadata_ = false;
    int ignored_ = 0;
};

// Strings and numbers of a bounded length, before the lexer sees them.
void check_tokens(std::string_view header, const std::string& name) {
    std::size_t begin = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < header.size(); ++i) {
        const char c = header[i];
        if (quoted) {
            if (c == '\\') ++i;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
            begin = i;
        } else if (c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}') {
            begin = i;
        }
        check<BadInput>(i < begin + max_token, "{}: header: a string or number of more than {} bytes", name, max_token);
    }
}

// The data is one row of tensors: no holes, no overlaps, nothing behind the last. So no byte has two meanings, or none.
void check_layout(const std::map<std::string, TensorInfo>& tensors, std::uint64_t size, const std::string& file) {
    std::vector<const TensorInfo*> order;
    order.reserve(tensors.size());
    for (const auto& [name, info] : tensors) order.push_back(&info);
    std::ranges::sort(order, {}, [](const TensorInfo* t) { return std::tie(t->begin, t->end); });
    std::uint64_t next = 0;
    for (const TensorInfo* t : order) {
        check<BadInput>(t->begin == next, "{}: tensor \"{}\" begins at byte {}, where {} is due: no holes, no overlaps",
                        file, shown_name(t->name), t->begin, next);
        next = t->end;
    }
    check<BadInput>(next == size, "{}: the tensors take {} bytes, but {} follow the header: the file was {}", file,
                    next, size, next > size ? "cut short" : "added to");
}

}  // namespace

SafetensorsHeader read_safetensors_header(std::span<const std::byte> bytes, const std::string& name) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    check<BadInput>(!text.starts_with("version https://git-lfs"),
                    "{}: a Git LFS pointer, not the weights: run git lfs pull in its folder", name);
    std::uint64_t length = 0;
    check<BadInput>(bytes.size() >= sizeof(length), "{}: a safetensors file has at least 8 bytes, got {}", name,
                    bytes.size());
    std::memcpy(&length, bytes.data(), sizeof(length));
    const std::uint64_t rest = bytes.size() - sizeof(length);
    check<BadInput>(length <= max_header, "{}: not a safetensors file: its header would take {} bytes, of at most {}",
                    name, length, max_header);
    check<BadInput>(length <= rest, "{}: the header takes {} bytes, but {} follow: the file was cut short", name,
                    length, rest);
    std::string_view json = text.substr(sizeof(length), length);
    check<BadInput>(json.starts_with('{'), "{}: not a safetensors file: its header must begin with {{", name);
    json = json.substr(0, json.find_last_not_of(' ') + 1);  // the padding
    check_tokens(json, name);

    SafetensorsHeader header;
    HeaderReader reader(header, name);
    read_json(json, reader);
    check_layout(header.tensors, rest - length, name);
    header.end = sizeof(length) + length;
    return header;
}

}  // namespace inkling::formats
