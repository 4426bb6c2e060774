// train() and the program, as functions of cli/program.h.
#include <nanobind/stl/map.h>

#include <csignal>

#include "cli/common.h"
#include "cli/program.h"
#include "engine/autograd/debug/anomaly.h"
#include "engine/base/clock.h"
#include "python/bind/bind.h"
#include "train/loop.h"
#include "train/settings/settings.h"

namespace inkling::python {
namespace {

nb::dict dict_of(const train::Metrics& metrics) {
    nb::dict d;
    d["step"] = metrics.step, d["loss"] = metrics.loss;
    d["val_loss"] = metrics.val_loss;
    d["lr"] = metrics.lr, d["grad_norm"] = metrics.grad_norm, d["tok_s"] = metrics.tok_s;
    d["train_s"] = metrics.train_s, d["elapsed_s"] = metrics.elapsed_s;
    return d;
}

// Calls a Python function after each step. The function stops the run if it returns True or raises an exception, which
// is raised again once the run is saved. Ctrl-C does the same.
class Caller : public train::Callback {
  public:
    explicit Caller(nb::object callback) : callback_(std::move(callback)) {}

    void step_done(train::TrainingLoop& loop) override {
        out = loop.options().out;
        if (callback_.is_none()) return;
        const nb::gil_scoped_acquire interpreter;
        try {
            const nb::object answer = callback_(dict_of(loop.metrics()));
            stop_ = stop_ || answer.is(nb::handle(Py_True));
        } catch (...) {
            stop_by(std::current_exception());
        }
    }
    void stopped(train::TrainingLoop& loop) override {
        out = loop.options().out;
        reason = loop.stop_reason();
    }

    bool stop() {
        constexpr double kEvery = 0.02;  // seconds between checks for signals
        const double now = seconds_now();
        if (!stop_ && now - looked_ > kEvery) {
            looked_ = now;
            const nb::gil_scoped_acquire interpreter;
            if (PyErr_CheckSignals() < 0) stop_by(std::make_exception_ptr(nb::python_error()));
        }
        return stop_;
    }

    std::string out;
    train::StopReason reason = train::StopReason::none;
    std::exception_ptr error;

  private:
    void stop_by(std::exception_ptr exception) {
        error = std::move(exception);
        stop_ = true;
    }

    nb::object callback_;
    bool stop_ = false;
    double looked_ = 0;
};

int run_command(const std::vector<std::string>& arguments, const std::vector<std::string>& again) {
    const auto pointers = [](const std::vector<std::string>& all) {
        std::vector<char*> result;
        for (const std::string& s : all) result.push_back(const_cast<char*>(s.c_str()));
        result.push_back(nullptr);
        return result;
    };
    std::vector<char*> argv = pointers(arguments), restart = pointers(again);
    return cli::run_program(static_cast<int>(arguments.size()), argv.data(), restart.data());
}

}  // namespace

void bind_train(nb::module_& m) {
    m.def(
        "_train",
        [](const std::map<std::string, std::vector<std::string>>& flags, nb::object callback) {
            Caller caller(std::move(callback));
            {
                const nb::gil_scoped_release others_run;
                cli::run_train(cli::train_config(flags), {&caller, [&] { return caller.stop(); }});
            }
            if (caller.error) std::rethrow_exception(caller.error);
            return std::pair(caller.out, std::string(name_of(caller.reason)));
        },
        "flags"_a, "callback"_a.none());
    m.def("_run", &run_command, "arguments"_a, "again"_a);
}

namespace {

// Exceptions of the C++ library, whose own text says nothing to a user of Python. Tried after those below.
void translate_library_errors(const std::exception_ptr& exception, void*) {
    try {
        std::rethrow_exception(exception);
    } catch (const std::bad_cast&) {
        PyErr_SetString(PyExc_TypeError, "an argument, or what a function returned, has a type that is not taken here");
    } catch (const std::bad_alloc&) {
        PyErr_SetString(PyExc_MemoryError, "out of memory");
    } catch (const std::length_error&) {
        PyErr_SetString(PyExc_ValueError, "a size is larger than any memory");
    } catch (const std::logic_error&) {
        PyErr_SetString(PyExc_ValueError, "a value is out of the range that is taken here");
    } catch (const std::system_error& e) {
        PyErr_SetString(PyExc_OSError, e.code().message().c_str());
    }
}

}  // namespace

void bind_errors(nb::module_& m) {
    nb::register_exception_translator(translate_library_errors);
    // A RuntimeError, too, which PyTorch raises.
    const nb::exception<Error> error(m, "Error",
                                     nb::make_tuple(nb::handle(PyExc_ValueError), nb::handle(PyExc_RuntimeError)));
    nb::exception<BadInput>(m, "BadInput", error);
    nb::exception<cli::Usage>(m, "Usage", error);
    nb::exception<train::Diverged>(m, "Diverged", error);
    nb::exception<Anomaly>(m, "Anomaly", error);
    nb::exception<DTypeError>(m, "DTypeError", nb::make_tuple(error, nb::handle(PyExc_TypeError)));
    // A ValueError and an IndexError, as in NumPy.
    nb::exception<AxisError>(m, "AxisError", nb::make_tuple(error, nb::handle(PyExc_IndexError)));
}

}  // namespace inkling::python
