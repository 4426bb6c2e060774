// Calls whose arguments fit no overload. nanobind's error would list all overloads; one more of each function, behind
// the others, takes anything, and lets inkling/_arguments.py name the argument that is wrong.
#include <algorithm>
#include <map>

#include "python/bind/bind.h"

namespace inkling::python {

struct LastTry {};

}  // namespace inkling::python

namespace nanobind::detail {

// Fits when arguments are converted, which comes after all overloads were tried without.
template <>
struct type_caster<inkling::python::LastTry> {
    NB_TYPE_CASTER(inkling::python::LastTry, const_name("object"))
    bool from_python(handle, uint32_t flags, cleanup_list*) noexcept {
        return (flags & static_cast<uint32_t>(cast_flags::convert)) != 0;
    }
};

}  // namespace nanobind::detail

namespace inkling::python {
namespace {

using Homes = std::vector<std::pair<nb::handle, std::string>>;  // classes and modules, and the function's name there

void collect(nb::handle place, std::map<PyObject*, Homes>& functions) {
    for (const nb::handle item : nb::list(place.attr("__dict__").attr("items")())) {
        const nb::object name = item[0], value = item[1];
        if (nb::hasattr(value, "__nb_signature__"))
            functions[value.ptr()].emplace_back(place, nb::cast<std::string>(name));
        else if (nb::isinstance<nb::module_>(value) ||
                 (nb::isinstance<nb::type_object>(value) && nb::type_check(value)))
            collect(value, functions);
    }
}

}  // namespace

void bind_refusals(nb::module_& m) {
    m.def("_explain_refusals", [m = nb::handle(m)] {
        std::map<PyObject*, Homes> functions;
        collect(m, functions);
        for (const auto& [function, places] : functions) {
            const auto name = nb::cast<std::string>(nb::handle(function).attr("__name__"));
            const bool method = nb::cast<std::string>(nb::handle(function).type().attr("__name__")) == "nb_method";
            const auto home = std::ranges::find_if(places, [&](const auto& place) {
                return place.second == name && (!method || nb::isinstance<nb::type_object>(place.first));
            });
            if (home == places.end() || (name[0] == '_' && name != "__init__")) continue;
            const auto own = std::make_shared<nb::handle>();  // the function, once it has this overload
            const auto refuse = [own, place = home->first](const nb::object& arguments, const nb::kwargs& named) {
                nb::module_::import_("inkling._arguments").attr("refuse")(place, *own, arguments, named);
            };
            const auto add = [&](const auto& f, const auto&... extra) {
                nb::cpp_function_def(f, nb::scope(home->first), nb::name(name.c_str()), "args"_a, "_"_a = true,
                                     "kwargs"_a, "Refuses all else, by name.", extra...);
            };
            if (method)
                add([refuse](nb::handle self, const nb::args& given, LastTry,
                             const nb::kwargs& named) { refuse(nb::make_tuple(self) + given, named); },
                    nb::is_method());
            else
                add([refuse](const nb::args& given, LastTry, const nb::kwargs& named) { refuse(given, named); });
            *own = nb::object(home->first.attr(name.c_str()));  // borrowed: the function holds `own`
            for (const auto& [place, as] : places) place.attr(as.c_str()) = *own;
        }
    });
}

}  // namespace inkling::python
