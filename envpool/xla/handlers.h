/* Between XLA and the pool: what a call brings, as plain C. Filled by handlers.cpp, read by bridge.pyx. */
#ifndef ENVPOOL_XLA_HANDLERS_H
#define ENVPOOL_XLA_HANDLERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ep_xla_buffer {
    void *data;             /* in host memory; may be NULL where it is empty */
    const int64_t *dims;    /* (ndim) */
    int64_t ndim;
    int64_t items;          /* product of dims */
    int32_t type;           /* XLA_FFI_DataType */
} ep_xla_buffer;

typedef struct ep_xla_call {
    int sends;              /* whether actions are sent: args are the handle, the actions, and env ids or not */
    int receives;           /* whether a batch is received: results are the handle and its arrays */
    const char *keys;       /* the keys of a dict of actions, separated by commas; empty: no dict (num_key_bytes) */
    int64_t num_key_bytes;
    const ep_xla_buffer *args;
    int64_t num_args;
    const ep_xla_buffer *results;
    int64_t num_results;
    void *error;            /* where ep_xla_explain puts a text */
} ep_xla_call;

/* Does what a call asks for. Runs on any thread, takes the GIL. Returns an XLA_FFI_Error_Code, after ep_xla_explain if
 * it is not zero. */
typedef int (*ep_xla_serve_fn)(const ep_xla_call *call);

/* Whom the handlers call; to be set before they are registered. */
void ep_xla_set_serve(ep_xla_serve_fn serve);

/* Makes size bytes at text the message of the error that this call ends with. */
void ep_xla_explain(const ep_xla_call *call, const char *text, size_t size);

/* The handler for the CPU; the one for CUDA, or NULL where no driver is installed. Pointers to XLA_FFI_Handler. */
void *ep_xla_cpu_handler(void);
void *ep_xla_cuda_handler(void);

/* From now on every call fails without looking at Python, which is about to end. */
void ep_xla_stop(void);

/* Calls that are being served. */
int64_t ep_xla_num_inside(void);

#endif
