#include "web/api/served_model.h"

#include <ctime>

#include "models/files/adapter_folder.h"
#include "models/files/folder.h"

namespace inkling::web {

std::vector<ServedModel> load_served_models(const NamedFolder& named, WeightType type,
                                            const std::vector<NamedFolder>& adapters,
                                            std::optional<models::CacheType> cache) {
    const std::filesystem::path folder = models::find_model(named.path);
    models::LoadedModel loaded = models::load_model(folder, std::nullopt, {type, true});
    check<BadInput>(adapters.empty() || loaded.model->adapter.rank == 0, "{}: has an adapter of its own",
                    named.path.string());
    const auto take = [&](const NamedFolder& adapter) {
        models::load_adapter(models::find_adapter("--adapter", adapter.path), *loaded.model);
        check<BadInput>(adapter.name.empty() || !loaded.model->adapter.changes_tables, "--adapter {}: {}",
                        adapter.path.string(), models::kTablesChanged);
    };
    for (const NamedFolder& adapter : adapters)
        if (adapter.name.empty()) take(adapter);
    const auto inference = std::make_shared<models::InferenceModel>(*loaded.model, type);
    inference->cache_type = cache.value_or(inference->cache_type);
    std::vector<ServedModel> all = {{.name = named.name,
                                     .inference = inference,
                                     .tokenizer = std::move(loaded.tokenizer),
                                     .created = static_cast<std::int64_t>(std::time(nullptr))}};
    try {
        all[0].chat = data::ChatTemplate::of(*all[0].tokenizer);
    } catch (const BadInput& e) {
        all[0].no_chat = e.what();
    }
    for (const NamedFolder& adapter : adapters) {
        if (adapter.name.empty()) continue;
        take(adapter);
        all.push_back(all[0]);
        all.back().name = adapter.name;
        all.back().inference =
            std::make_shared<const models::InferenceModel>(all[0].inference->with_adapter(*loaded.model));
    }
    return all;
}

ServedModel load_served_model(const std::string& name, const std::filesystem::path& folder, WeightType type) {
    return load_served_models({name, folder}, type, {})[0];
}

}  // namespace inkling::web
