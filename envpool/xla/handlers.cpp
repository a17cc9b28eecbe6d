/* The functions that XLA calls. They do not know pools: they gather the buffers of a call and pass them on. For a call on
 * a GPU, they copy the buffers to host memory and back. */
#include "handlers.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "envpool/_core/floats.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

ep_xla_serve_fn serve;

/* The interpreter must not exit while a thread of XLA waits for it, see ep_xla_stop. Both variables are sequentially
 * consistent: either the thread that stops sees a call in `inside`, or the call sees `stopped` and returns. */
std::atomic<bool> stopped{false};
std::atomic<int64_t> inside{0};

struct Inside {
    Inside() { inside.fetch_add(1); }
    ~Inside() { inside.fetch_sub(1); }
};

using Buffers = std::vector<ep_xla_buffer>;

template <typename List>
int64_t ssize(const List &list) {
    return static_cast<int64_t>(list.size());
}

ep_xla_buffer describe(const ffi::AnyBuffer &buffer) {
    auto dims = buffer.dimensions();
    return {buffer.untyped_data(), dims.begin(), static_cast<int64_t>(dims.size()),
            static_cast<int64_t>(buffer.element_count()), static_cast<int32_t>(buffer.element_type())};
}

/* Lists the operands and results of a call. Returns false if one of them is not an array. */
bool gather(const ffi::RemainingArgs &args, const ffi::RemainingRets &rets, Buffers &in, Buffers &out) {
    in.reserve(args.size());
    out.reserve(rets.size());
    for (size_t i = 0; i < args.size(); i++) {
        auto buffer = args.get<ffi::AnyBuffer>(i);
        if (buffer.has_error()) return false;
        in.push_back(describe(*buffer));
    }
    for (size_t i = 0; i < rets.size(); i++) {
        auto buffer = rets.get<ffi::AnyBuffer>(i);
        if (buffer.has_error()) return false;
        out.push_back(describe(**buffer));
    }
    return true;
}

ffi::Error no_array() { return ffi::Error::InvalidArgument("calls of envpool take and return arrays only"); }

ffi::Error pass_on(bool sends, bool receives, std::string_view keys, const Buffers &in, const Buffers &out) {
    Inside here;
    if (stopped) return ffi::Error(ffi::ErrorCode::kCancelled, "the Python interpreter is exiting: its pools are closed");
    std::string error;
    ep_xla_call call = {sends,      receives,        keys.data(),  ssize(keys), in.data(),
                        ssize(in), out.data(), ssize(out), &error};
    uint64_t bits = ep_floats_enter();  // Python code and the transforms of a batch compute as they do in step(), too
    int code = serve(&call);
    ep_floats_leave(bits);
    return code ? ffi::Error(static_cast<ffi::ErrorCode>(code), error) : ffi::Error::Success();
}

ffi::Error run_on_cpu(bool sends, bool receives, std::string_view keys, ffi::RemainingArgs args,
                      ffi::RemainingRets rets) {
    Buffers in, out;
    if (!gather(args, rets, in, out)) return no_array();
    return pass_on(sends, receives, keys, in, out);
}

XLA_FFI_DEFINE_HANDLER(cpu_handler, run_on_cpu,
                       ffi::Ffi::Bind()
                           .Attr<bool>("sends")
                           .Attr<bool>("receives")
                           .Attr<std::string_view>("keys")
                           .RemainingArgs()
                           .RemainingRets());

/* ---- CUDA: the driver is loaded at run time, so that the build needs neither its headers nor a GPU ---- */

struct Driver {
    using Address = unsigned long long;     /* CUdeviceptr */

    int (*context_of)(void *stream, void **context);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*to_host)(void *to, Address from, size_t size, void *stream);
    int (*to_device)(Address to, const void *from, size_t size, void *stream);
    int (*finish)(void *stream);
    bool is_there;

    Driver() {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);      /* stays loaded */
        is_there = library && find(library, "cuStreamGetCtx", context_of) &&
                   find(library, "cuCtxPushCurrent_v2", push) && find(library, "cuCtxPopCurrent_v2", pop) &&
                   find(library, "cuMemcpyDtoHAsync_v2", to_host) &&
                   find(library, "cuMemcpyHtoDAsync_v2", to_device) && find(library, "cuStreamSynchronize", finish);
    }

    template <typename Function>
    static bool find(void *library, const char *name, Function &function) {
        function = reinterpret_cast<Function>(dlsym(library, name));
        return function != nullptr;
    }
};

const Driver &driver() {
    static const Driver found;
    return found;
}

size_t bytes_of(const ep_xla_buffer &buffer) {
    return buffer.items * ffi::ByteWidth(static_cast<ffi::DataType>(buffer.type));
}

/* Owns host memory for all buffers of a call and makes the buffers point to it; `device` returns where they were. */
class Staging {
  public:
    Staging(std::initializer_list<Buffers *> lists) {
        size_t size = 0;
        for (Buffers *list : lists)
            for (const ep_xla_buffer &buffer : *list) size += padded(buffer);
        memory_.resize(size / sizeof(Line));
        char *at = reinterpret_cast<char *>(memory_.data());
        for (Buffers *list : lists)
            for (ep_xla_buffer &buffer : *list) {
                device_.push_back(reinterpret_cast<Driver::Address>(buffer.data));
                buffer.data = at;
                at += padded(buffer);
            }
    }

    Driver::Address device(size_t i) const { return device_[i]; }

  private:
    struct alignas(64) Line {
        char bytes[64];
    };

    static size_t padded(const ep_xla_buffer &buffer) { return (bytes_of(buffer) + 63) / 64 * 64; }

    std::vector<Line> memory_;
    std::vector<Driver::Address> device_;
};

ffi::Error failed(const char *what, int code) {
    return ffi::Error::Internal(std::string("envpool: ") + what + " failed with CUDA error " + std::to_string(code));
}

ffi::Error run_through_host(void *stream, bool sends, bool receives, std::string_view keys, Buffers &in, Buffers &out) {
    Staging staging{&in, &out};
    for (size_t i = 0; i < in.size(); i++)
        if (size_t size = bytes_of(in[i]))
            if (int code = driver().to_host(in[i].data, staging.device(i), size, stream))
                return failed("a copy to the host", code);
    if (int code = driver().finish(stream)) return failed("waiting for the actions", code);
    ffi::Error error = pass_on(sends, receives, keys, in, out);
    if (error.failure()) return error;
    for (size_t i = 0; i < out.size(); i++)
        if (size_t size = bytes_of(out[i]))
            if (int code = driver().to_device(staging.device(in.size() + i), out[i].data, size, stream))
                return failed("a copy to the device", code);
    if (int code = driver().finish(stream)) return failed("a copy to the device", code);   /* before `staging` ends */
    return ffi::Error::Success();
}

ffi::Error run_on_cuda(void *stream, bool sends, bool receives, std::string_view keys, ffi::RemainingArgs args,
                       ffi::RemainingRets rets) {
    Buffers in, out;
    void *context = nullptr, *popped = nullptr;
    if (!gather(args, rets, in, out)) return no_array();
    if (int code = driver().context_of(stream, &context)) return failed("cuStreamGetCtx", code);
    if (int code = driver().push(context)) return failed("cuCtxPushCurrent", code);
    ffi::Error error = run_through_host(stream, sends, receives, keys, in, out);
    driver().pop(&popped);
    return error;
}

XLA_FFI_DEFINE_HANDLER(cuda_handler, run_on_cuda,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<void *>>()
                           .Attr<bool>("sends")
                           .Attr<bool>("receives")
                           .Attr<std::string_view>("keys")
                           .RemainingArgs()
                           .RemainingRets());

}  // namespace

void ep_xla_set_serve(ep_xla_serve_fn function) { serve = function; }

void ep_xla_explain(const ep_xla_call *call, const char *text, size_t size) {
    static_cast<std::string *>(call->error)->assign(text, size);
}

void *ep_xla_cpu_handler() { return reinterpret_cast<void *>(cpu_handler); }

void *ep_xla_cuda_handler() { return driver().is_there ? reinterpret_cast<void *>(cuda_handler) : nullptr; }

void ep_xla_stop() { stopped = true; }

int64_t ep_xla_num_inside() { return inside; }
