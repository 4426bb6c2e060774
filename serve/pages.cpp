// The pages of the server: the playground at /, and those about runs.
#include "serve/api.h"

namespace inkling::serve {

void Api::add_pages() {
    http_.route(
        "GET", "/",
        [this](const HttpRequest&) {
            std::string text = "Inkling serves";
            if (ready_)
                for (const Model& model : models_) text += " " + model->name;
            return HttpResponse{.type = "text/plain; charset=utf-8",
                                .body = text + "\n\nPOST /v1/completions, POST /v1/chat/completions, GET /v1/models\n"};
        },
        HttpAccess::open);
}

}  // namespace inkling::serve
