// State dicts: contents beside the parameters, errors, and reports in place of errors.
#include "models/files/state_dict.h"

#include "nn/attention/multi_head.h"
#include "tests/models/folders.h"

// The module's parameters except those named in `without`, and `more` tensors of zeros.
static void write_state(nn::Module<float>& module, const fs::path& path, const std::vector<std::string>& more,
                        const std::vector<std::string>& without = {}) {
    models::save_state_dict(module, path);
    change_tensors(path, [&](StoredTensors& all) {
        for (const std::string& name : more) all[name] = {{4, 4}, std::vector<float>(16)};
        for (const std::string& name : without) all.erase(name);
    });
}

template <class Module>
static void check_loads(Module& to, Module& from, const fs::path& path) {
    const models::Unmatched unmatched = models::load_state_dict(to, path);
    CHECK_ALL(unmatched.missing.empty(), unmatched.unexpected.empty());
    const auto a = to.parameters(), b = from.parameters();
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(same_bits(a[i].second.value(), b[i].second.value()));
}

TEST_CASE("state dict: the mask that PyTorch's module keeps as a buffer is passed over", "[models]") {
    Generator random{1, 0};
    const ScratchFolder folder;
    const auto path = folder.path("state.safetensors");
    nn::CausalAttention<float> from(random, 3, 2, 4, 0.0), to(random, 3, 2, 4, 0.0);
    CHECK(to.buffers() == std::vector<std::string>{"mask"});
    write_state(from, path, {"mask"});
    check_loads(to, from, path);
    nn::MultiHeadAttention<float> many(random, 3, 2, 4, 0.0, 2), other(random, 3, 2, 4, 0.0, 2);
    write_state(many, path, {"mask"});
    check_loads(other, many, path);
    nn::MultiHeadAttentionWrapper<float> heads(random, 3, 2, 4, 0.0, 2), copy(random, 3, 2, 4, 0.0, 2);
    write_state(heads, path, {"heads.0.mask", "heads.1.mask"});
    check_loads(copy, heads, path);
    write_state(from, path, {"mask2"});
    CHECK_THROWS_WITH(models::load_state_dict(to, path), contains("; mask2 is not known"));
    nn::Linear<float> linear(random, 3, 2);
    write_state(linear, path, {"mask"});
    CHECK_THROWS_AS(models::load_state_dict(linear, path), BadInput);
}

TEST_CASE("state dict: a mismatch is refused, or reported when a partial match is enough", "[models]") {
    Generator random{1, 0};
    const ScratchFolder folder;
    const auto path = folder.path("state.safetensors");
    nn::Linear<float> from(random, 3, 2), to(random, 3, 2);
    const Array<float> weight = to.weight.value().clone(), bias = to.bias.value().clone();
    write_state(from, path, {"extra", "more"}, {"bias"});
    CHECK_THROWS_WITH(models::load_state_dict(to, path),
                      contains("; bias is missing", "; extra is not known", "; more is not known"));
    CHECK(same_bits(to.weight.value(), weight));
    const models::Unmatched unmatched = models::load_state_dict(to, path, models::Match::some);
    CHECK(unmatched.missing == std::vector<std::string>{"bias"});
    CHECK(unmatched.unexpected == std::vector<std::string>{"extra", "more"});
    CHECK_ALL(same_bits(to.weight.value(), from.weight.value()), same_bits(to.bias.value(), bias));
    nn::Linear<float> wide(random, 4, 2);
    CHECK_THROWS_WITH(models::load_state_dict(wide, path, models::Match::some),
                      contains("weight has shape (2, 3), the module's is (2, 4)"));
}
