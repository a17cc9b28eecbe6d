/* A call of XLA as plain C data. handlers.cpp fills it, bridge.pyx reads it. */
#ifndef ENVPOOL_XLA_HANDLERS_H
#define ENVPOOL_XLA_HANDLERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ep_xla_buffer {
    void *data;             /* in host memory; may be NULL if there are no items */
    const int64_t *dims;    /* (ndim) */
    int64_t ndim;
    int64_t items;          /* product of dims */
    int32_t type;           /* XLA_FFI_DataType */
} ep_xla_buffer;

typedef struct ep_xla_call {
    int sends;              /* whether the call sends: args are the handle, the actions and optionally env ids */
    int receives;           /* whether the call receives: results are the handle and the arrays of a batch */
    const char *keys;       /* (num_key_bytes) keys of a dict of actions, separated by commas; empty if the action is an array */
    int64_t num_key_bytes;
    const ep_xla_buffer *args;
    int64_t num_args;
    const ep_xla_buffer *results;
    int64_t num_results;
    void *error;            /* where ep_xla_explain stores the error text */
} ep_xla_call;

/* Serves a call. Runs on any thread and takes the GIL. Returns an XLA_FFI_Error_Code; if it is not zero, ep_xla_explain
 * has been called. */
typedef int (*ep_xla_serve_fn)(const ep_xla_call *call);

/* Sets the function that the handlers call. Must be called before the handlers are registered. */
void ep_xla_set_serve(ep_xla_serve_fn serve);

/* Sets the text of the error with which a call fails: size bytes at text. */
void ep_xla_explain(const ep_xla_call *call, const char *text, size_t size);

/* The handlers, pointers to XLA_FFI_Handler. The CUDA handler is NULL if no driver is installed. */
void *ep_xla_cpu_handler(void);
void *ep_xla_cuda_handler(void);

/* Makes every further call fail without entering Python. Called before the interpreter exits. */
void ep_xla_stop(void);

/* Number of calls that are being served. */
int64_t ep_xla_num_inside(void);

#endif
