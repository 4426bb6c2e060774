#include "serve/served_model.h"

#include <ctime>

#include "models/adapter_folder.h"
#include "models/folder.h"

namespace inkling::serve {

ServedModel load_served_model(const std::string& name, const std::filesystem::path& path, WeightType type,
                              const std::filesystem::path& adapter) {
    const std::filesystem::path folder = models::find_model(path);
    models::LoadedModel loaded = models::load_model(folder, std::nullopt, models::Kept::as_stored);
    if (!adapter.empty()) {
        check<BadInput>(loaded.model->adapter.rank == 0, "{}: has an adapter of its own", path.string());
        models::load_adapter(models::find_model(adapter), *loaded.model);
    }
    ServedModel model{.name = name,
                      .decoder = std::make_shared<const models::Decoder>(*loaded.model, type),
                      .tokenizer = std::move(loaded.tokenizer),
                      .created = static_cast<std::int64_t>(std::time(nullptr))};
    try {
        model.chat = models::ChatTemplate::load(models::is_adapter(folder) ? models::base_of_adapter(folder) : folder,
                                                *model.tokenizer);
    } catch (const BadInput& e) {
        model.no_chat = e.what();
    }
    return model;
}

}  // namespace inkling::serve
