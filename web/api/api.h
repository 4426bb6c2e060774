// The server of `inkling serve`: models under the paths of OpenAI's API and of llama.cpp's server.
//   Api api(options);
//   api.start();                                  // GET /health: 503 until ready()
//   api.add_model(load_served_model("mine", "runs/mine", WeightType::bf16));
//   api.ready();
//   api.stop();                                   // running requests may finish
#pragma once

#include "web/api/metrics.h"
#include "web/api/scheduler.h"
#include "web/api/served_model.h"
#include "web/api/text_request.h"
#include "web/http/http.h"

namespace inkling::web {

struct ApiOptions {
    HttpOptions http = {};
    SchedulerOptions scheduler = {};
    std::size_t max_tokens = 4096;  // per text
};

class Api {
  public:
    explicit Api(ApiOptions options);
    ~Api();

    void start();
    void add_model(ServedModel model);  // names are unique
    void ready();
    void stop(double grace = 3);  // seconds

    HttpServer& http() { return http_; }
    const Metrics& metrics() const { return metrics_; }

  private:
    using Model = std::shared_ptr<const ServedModel>;
    void add_routes();
    Model find(const std::string& name) const;  // "": the first. Throws HttpError 404, or 503 while models load
    void check_ready() const;
    RequestLimits limits() const;

    const ApiOptions options_;
    Metrics metrics_;
    std::unique_ptr<Scheduler> scheduler_;
    std::vector<Model> models_;  // complete before ready_
    std::atomic<bool> ready_ = false;
    HttpServer http_;  // last: its threads use all other members
};

}  // namespace inkling::web
