#include "formats/jinja/run.h"

namespace inkling::formats::jinja {

void Run::make(std::size_t bytes) {
    bytes_ += bytes;
    check<BadInput>(bytes_ <= limits_.bytes && bytes <= limits_.bytes,
                    "it makes more than {} MB of texts and lists: it is refused", limits_.bytes >> 20);
    step(bytes / 64);
}

void Run::check_steps() {
    constexpr std::size_t kBetween = 4096;  // some 0.1 ms
    check<BadInput>(steps_ <= limits_.steps, "it takes more than {} steps: it is refused", limits_.steps);
    check<BadInput>(!limits_.stop || !limits_.stop(), "the request was cancelled");
    next_check_ = std::min(steps_ + kBetween, limits_.steps + 1);
}

Value Run::text(Text text) {
    make(text.memory());
    return std::make_shared<const Text>(std::move(text));
}

Value Run::texts(std::vector<Text> texts) {
    std::vector<Value> all;
    for (Text& one : texts) all.push_back(text(std::move(one)));
    return list(std::move(all));
}

namespace {

std::size_t depth_of(const Value& value) {
    if (const List* const list = value.list()) return list->depth;
    if (const Map* const map = value.map()) return map->depth;
    return value.loop() ? value.loop()->depth : 0;
}

}  // namespace

Value Run::list(std::vector<Value> items, ListKind kind) {
    make(sizeof(List) + items.size() * sizeof(Value));
    std::size_t depth = 0;
    for (const Value& item : items) depth = std::max(depth, depth_of(item));
    check<BadInput>(depth < kMaxNested, "its lists are nested more than {} deep", kMaxNested);
    return std::make_shared<const List>(List{std::move(items), kind, depth + 1});
}

Value Run::map(std::vector<std::pair<Value, Value>> items) {
    make(sizeof(Map) + items.size() * sizeof(items[0]));
    std::size_t depth = 0;
    for (const auto& [key, value] : items) depth = std::max(depth, depth_of(value));
    check<BadInput>(depth < kMaxNested, "its lists are nested more than {} deep", kMaxNested);
    return std::make_shared<const Map>(Map{std::move(items), depth + 1});
}

const Value* Run::find(std::string_view name) {
    step(variables_.size() / 16);
    for (auto v = variables_.rbegin(); v != variables_.rend(); ++v)
        if (v->first == name) return &v->second;
    return nullptr;
}

void Run::set(std::string_view name, Value value) {
    step((variables_.size() - frames_.back()) / 16);
    for (std::size_t i = frames_.back(); i < variables_.size(); ++i)
        if (variables_[i].first == name) return static_cast<void>(variables_[i].second = std::move(value));
    variables_.emplace_back(name, std::move(value));
}

void Run::set_all(Value map) {
    check<BadInput>(map.map(), "a template's variables must be a JSON object");
    given_.push_back(std::move(map));
    for (const auto& [key, value] : given_.back().map()->items) set(key.text()->bytes, value);
}

std::size_t Run::open() {
    frames_.push_back(variables_.size());
    return frames_.size() - 1;
}

void Run::close(std::size_t frame) {
    variables_.resize(frames_[frame]);
    frames_.resize(frame);
}

Text Run::apart(std::size_t frames, const std::function<void()>& body) {
    const std::size_t kept = frames < frames_.size() ? frames_[frames] : variables_.size();
    const auto from = variables_.begin() + static_cast<std::ptrdiff_t>(kept);
    std::vector<std::pair<std::string_view, Value>> hidden(std::make_move_iterator(from),
                                                           std::make_move_iterator(variables_.end()));
    std::vector<std::size_t> hidden_frames(
        frames_.begin() + static_cast<std::ptrdiff_t>(std::min(frames, frames_.size())), frames_.end());
    variables_.erase(from, variables_.end());
    frames_.resize(frames_.size() - hidden_frames.size());
    Text outer = std::exchange(out, Text());
    const std::size_t frame = open();
    body();
    close(frame);
    std::move(hidden.begin(), hidden.end(), std::back_inserter(variables_));
    frames_.insert(frames_.end(), hidden_frames.begin(), hidden_frames.end());
    return std::exchange(out, std::move(outer));
}

}  // namespace inkling::formats::jinja
