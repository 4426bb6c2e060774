// The pages of the server: the playground at /, and those about runs.
#include "serve/api.h"
#include "serve/page_routes.h"

namespace inkling::serve {

void Api::add_pages() {
    serve::add_pages(http_);
    add_playground(http_, !options_.runs.empty());
    if (!options_.runs.empty()) add_runs(http_, options_.runs);
}

}  // namespace inkling::serve
