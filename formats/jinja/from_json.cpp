#include "formats/jinja/run.h"
#include "formats/json.h"

namespace inkling::formats::jinja {

namespace {

// Builds a value as its text is read, so that the order of keys is that of the text.
class ValueBuilder : public JsonParts {
  public:
    ValueBuilder(Run& run, const SourceOfKey& source_of)
        : JsonParts("JSON for a template"), run_(run), source_of_(source_of), source_(source_of("")) {}

    Value value;

    bool null() override { return put(None()); }
    bool boolean(bool v) override { return put(v); }
    bool number_integer(number_integer_t v) override { return put(std::int64_t{v}); }
    bool number_unsigned(number_unsigned_t v) override {
        check<BadInput>(v <= INT64_MAX, "{}: the number {} is too large", what(), v);
        return put(static_cast<std::int64_t>(v));
    }
    bool number_float(number_float_t v, const string_t&) override { return put(v); }
    bool text(string_t& v) override { return put(made_text(v)); }
    bool binary(binary_t& v) override { throw BadInput(fmt::format("{}: {} is no JSON", what(), quote(v))); }
    bool key(string_t& k) override {
        if (open_.size() == 1) source_ = source_of_(k);
        open_.back().key = made_text(k);
        return true;
    }
    bool start_object(std::size_t) override { return open(); }
    bool start_array(std::size_t) override { return open(); }
    bool end_object() override {
        Open all = std::move(open_.back());
        open_.pop_back();
        return put(run_.map(std::move(all.pairs)));
    }
    bool end_array() override {
        std::vector<Value> items;
        for (auto& pair : open_.back().pairs) items.push_back(std::move(pair.second));
        open_.pop_back();
        return put(run_.list(std::move(items)));
    }

  private:
    struct Open {
        std::vector<std::pair<Value, Value>> pairs;
        Value key;
    };
    Value made_text(const std::string& bytes) { return run_.text(source_ < 0 ? Text(bytes) : Text(bytes, source_)); }
    bool open() {
        check<BadInput>(open_.size() < Run::kMaxNested, "{}: nested deeper than {} levels", what(), Run::kMaxNested);
        open_.emplace_back();
        return true;
    }
    bool put(Value made) {
        run_.step();
        if (open_.empty())
            value = std::move(made);
        else
            open_.back().pairs.emplace_back(open_.back().key, std::move(made));
        return true;
    }

    Run& run_;
    const SourceOfKey& source_of_;
    std::vector<Open> open_;  // objects and arrays that have not ended
    std::int32_t source_;
};

}  // namespace

Value from_json(Run& run, std::string_view json, const SourceOfKey& source_of) {
    ValueBuilder builder(run, source_of);
    read_json(json, builder);
    return std::move(builder.value);
}

}  // namespace inkling::formats::jinja
