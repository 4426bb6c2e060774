#include "serve/served_model.h"

#include <ctime>

#include "models/folder.h"

namespace inkling::serve {

ServedModel load_served_model(const std::string& name, const std::filesystem::path& path, WeightType type) {
    const std::filesystem::path folder = models::find_model(path);
    models::LoadedModel loaded = models::load_model(folder, std::nullopt, models::Kept::as_stored);
    ServedModel model{.name = name,
                      .decoder = std::make_shared<const models::Decoder>(*loaded.model, type),
                      .tokenizer = std::move(loaded.tokenizer),
                      .created = static_cast<std::int64_t>(std::time(nullptr))};
    try {
        model.chat = models::ChatTemplate::load(folder, *model.tokenizer);
    } catch (const BadInput& e) {
        model.no_chat = e.what();
    }
    return model;
}

}  // namespace inkling::serve
