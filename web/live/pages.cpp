// The server's pages: the playground at /, and the pages about runs.
#include "web/api/api.h"
#include "web/live/page_routes.h"

namespace inkling::web {

void Api::add_pages() {
    web::add_pages(http_);
    add_playground(http_, !options_.runs.empty());
    if (!options_.runs.empty()) add_runs(http_, options_.runs);
}

}  // namespace inkling::web
