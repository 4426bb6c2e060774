// Reference cycles between Python and the graph. A node keeps the function of a hook, of a Function or of checkpoint(),
// and the function may reach the node's own tensor. Python's collector sees the functions of those nodes that a tensor
// or a layer alone keeps: all references to such a node come from there, or from another such node.
#include <unordered_map>

#include "python/bind/cycles.h"
#include "python/bind/define.h"

namespace inkling::python {
namespace {

// By the node that keeps them; under the interpreter lock. Never destroyed, because nodes may be older.
auto& functions() {
    static auto* const all = new std::unordered_multimap<const void*, PyObject*>;
    return *all;
}

template <class T>
int visit_functions(const NodePtr<T>& first, long references, visitproc visit, void* arg) {
    if (!first || first.use_count() > references || functions().empty()) return 0;
    std::unordered_map<const Node<T>*, long> seen;  // references
    std::vector<const Node<T>*> alone;
    const auto reach = [&](const NodePtr<T>& node, long by) {
        const bool all = (seen[node.get()] += by) == node.use_count();
        if (all && node->runs == 0) alone.push_back(node.get());  // a run may change the node on another thread
    };
    reach(first, references);
    for (std::size_t i = 0; i < alone.size(); ++i)
        for (const NodePtr<T>& input : alone[i]->inputs)
            if (input) reach(input, 1);
    for (const Node<T>* const node : alone)
        for (auto [at, end] = functions().equal_range(node); at != end; ++at) Py_VISIT(at->second);
    return 0;
}

int traverse_tensor(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    const auto functions_of = [&](const auto& t) { return visit_functions(t.node(), 1, visit, arg); };
    return std::visit(functions_of, nb::inst_ptr<AnyTensor>(self)->tensor);
}
int clear_tensor(PyObject* self) {
    if (nb::inst_ready(self)) std::visit([](auto& t) { t = t.detach(); }, nb::inst_ptr<AnyTensor>(self)->tensor);
    return 0;
}

int traverse_layer(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    const AnyModule& layer = *nb::inst_ptr<AnyModule>(self);
    Py_VISIT(layer.made.ptr());
    const auto functions_of = [&](const auto& own) {
        if (own.use_count() > 1 || functions().empty()) return 0;
        for (const auto& [name, p] : own->parameters())
            if (const int stopped = visit_functions(p.node(), 2, visit, arg)) return stopped;  // the layer's and p
        return 0;
    };
    return std::visit(functions_of, layer.own);
}

}  // namespace

struct KeptFunction::Held {
    PyObject* function;
    const void* node = nullptr;

    ~Held() {
        if (!Py_IsInitialized()) return;  // the interpreter has ended
        const nb::gil_scoped_acquire interpreter;
        auto [at, end] = functions().equal_range(node);
        while (at != end && at->second != function) ++at;
        if (at != end) functions().erase(at);
        Py_DECREF(function);
    }
};

KeptFunction::KeptFunction(nb::object f) : function_(f.ptr()), held_(new Held{f.release().ptr()}) {}

void KeptFunction::belong_to(const void* node) const {
    if (node) functions().emplace(held_->node = node, function_);
}

PyType_Slot tensor_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_tensor)},
                              {Py_tp_clear, reinterpret_cast<void*>(&clear_tensor)},
                              {0, nullptr}};
PyType_Slot layer_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_layer)}, {0, nullptr}};

}  // namespace inkling::python
