//go:build ucx && cgo

// One UCX worker with an operating system thread of its own, which alone calls UCX once it has been started.
#ifndef KVASIR_UCX_SHIM_H
#define KVASIR_UCX_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct kv_worker kv_worker;

typedef struct {
	const char *name, *value;
} kv_option;

// kv_end is a get that is over. Status is a ucs_status_t: 0 if all of its bytes have landed.
typedef struct {
	uint64_t id;
	int status;
} kv_end;

// All functions that return an int return a ucs_status_t, 0 if all is well; kv_text says it in words.
const char *kv_text(int status);

// kv_open makes a context and a worker. On failure nothing is left.
int kv_open(kv_worker **out, const kv_option *options, int count);

// kv_expose registers memory. Address and key are for peers; they live as long as the worker.
int kv_expose(kv_worker *w, void *base, size_t bytes);
const void *kv_address(kv_worker *w, size_t *bytes);
const void *kv_key(kv_worker *w, size_t *bytes);

enum {
	KV_FORCE = 1, // the endpoint can be closed with force, and tells of its failure: network transports only
	KV_DRAIN = 2, // kv_stop first waits, for a second at most, for the gets that are out
};

// kv_connect connects to a worker that has exposed memory, and waits until it answers, so many milliseconds at most (UCS_ERR_TIMED_OUT).
int kv_connect(kv_worker *w, const void *address, const void *key, int flags, int64_t wait_ms);

// kv_start starts the thread. From then on only the functions below may be called.
int kv_start(kv_worker *w);

// kv_get asks for bytes of the peer. Every get ends, and is among the ends once. Returns UCS_ERR_CANCELED once kv_stop has been called: then it does not begin.
int kv_get(kv_worker *w, uint64_t id, void *to, size_t bytes, uint64_t from);

// kv_ends takes up to max gets that are over. kv_event_fd becomes readable when there are some, or the endpoint has failed, or the thread has ended.
size_t kv_ends(kv_worker *w, kv_end *to, size_t max);
int kv_event_fd(kv_worker *w);

// kv_failed is the status with which the endpoint has failed, or 0.
int kv_failed(kv_worker *w);

// kv_stop ends the thread, and with it the endpoint, the worker, the registration and the context. When it has returned, nothing lands here and nothing is read from here by this worker's
// peers, and every get is among the ends.
void kv_stop(kv_worker *w);

// kv_free ends what was opened, started or not, and forgets it.
void kv_free(kv_worker *w);

// kv_quiet keeps UCX from handling the signals of this process.
void kv_quiet(void);

#endif
