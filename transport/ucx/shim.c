//go:build ucx && cgo

#include "shim.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <ucp/api/ucp.h>
#include <ucs/config/global_opts.h>

// A get waits in the queue, then is out, then over. One list element serves all of that.
typedef struct kv_op {
	struct kv_op *next;
	kv_worker *worker;
	uint64_t id, from;
	void *to;
	size_t bytes;
	int status;
} kv_op;

typedef struct {
	kv_op *first, **last;
} kv_list;

struct kv_worker {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_address_t *address;
	size_t address_bytes;
	ucp_mem_h memory;
	void *key;
	size_t key_bytes;
	ucp_ep_h endpoint;
	ucp_rkey_h remote;
	int flags;
	kv_list out; // the thread's

	pthread_t thread;
	int started, joined;
	int wake;  // eventfd: there is something to do for the thread
	int event; // eventfd: there is something to hear for others

	pthread_mutex_t mutex; // for what follows
	kv_list queue, over;
	int stopping, failed;
};

// How often the thread looks for work in vain before it sleeps.
enum { spins = 2000 };

// How long it sleeps at most: UCX has timers of its own.
enum { sleep_ms = 100 };

static void list_init(kv_list *l) {
	l->first = NULL;
	l->last = &l->first;
}

static void list_add(kv_list *l, kv_op *op) {
	op->next = NULL;
	*l->last = op;
	l->last = &op->next;
}

static kv_op *list_take(kv_list *l) {
	kv_op *op = l->first;
	if (op != NULL && (l->first = op->next) == NULL) {
		l->last = &l->first;
	}
	return op;
}

static void list_drop(kv_list *l, kv_op *op) {
	for (kv_op **at = &l->first; *at != NULL; at = &(*at)->next) {
		if (*at == op) {
			*at = op->next;
			if (l->last == &op->next) {
				l->last = at;
			}
			return;
		}
	}
}

static void signal_fd(int fd) {
	uint64_t one = 1;
	while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {
	}
}

const char *kv_text(int status) { return ucs_status_string((ucs_status_t)status); }

void kv_quiet(void) {
	ucs_global_opts_set_value("HANDLE_ERRORS", "none");
	ucs_global_opts_set_value("ERROR_SIGNALS", "");
	ucs_global_opts_set_value("LOG_LEVEL", "fatal"); // errors come back as values
}

int kv_open(kv_worker **out, const kv_option *options, int count) {
	kv_worker *w = calloc(1, sizeof *w);
	if (w == NULL) {
		return UCS_ERR_NO_MEMORY;
	}
	pthread_mutex_init(&w->mutex, NULL);
	list_init(&w->queue);
	list_init(&w->out);
	list_init(&w->over);
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ucs_status_t status = w->wake < 0 || w->event < 0 ? UCS_ERR_IO_ERROR : UCS_OK;

	ucp_config_t *config = NULL;
	if (status == UCS_OK) {
		status = ucp_config_read(NULL, NULL, &config);
	}
	for (int i = 0; i < count && status == UCS_OK; i++) {
		status = ucp_config_modify(config, options[i].name, options[i].value);
	}
	if (status == UCS_OK) {
		ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP};
		status = ucp_init(&params, config, &w->context);
	}
	if (config != NULL) {
		ucp_config_release(config);
	}
	if (status == UCS_OK) {
		ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SERIALIZED};
		status = ucp_worker_create(w->context, &params, &w->worker);
	}
	if (status != UCS_OK) {
		kv_free(w);
		return status;
	}
	*out = w;
	return UCS_OK;
}

int kv_expose(kv_worker *w, void *base, size_t bytes) {
	ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_PROT,
		.address = base,
		.length = bytes,
		.prot = UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_REMOTE_READ,
	};
	ucs_status_t status = ucp_mem_map(w->context, &params, &w->memory);
	if (status != UCS_OK) {
		return status;
	}
	status = ucp_rkey_pack(w->context, w->memory, &w->key, &w->key_bytes);
	if (status != UCS_OK) {
		return status;
	}
	return ucp_worker_get_address(w->worker, &w->address, &w->address_bytes);
}

const void *kv_address(kv_worker *w, size_t *bytes) {
	*bytes = w->address_bytes;
	return w->address;
}

const void *kv_key(kv_worker *w, size_t *bytes) {
	*bytes = w->key_bytes;
	return w->key;
}

static void endpoint_failed(void *arg, ucp_ep_h ep, ucs_status_t status) {
	kv_worker *w = arg;
	pthread_mutex_lock(&w->mutex);
	w->failed = status;
	pthread_mutex_unlock(&w->mutex);
	signal_fd(w->event);
}

static int64_t now_ms(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

// answered waits until the peer's worker has answered ours: UCX 1.13 may end the process when an endpoint is destroyed while it still connects.
static ucs_status_t answered(kv_worker *w, int64_t wait_ms) {
	ucp_request_param_t params = {.op_attr_mask = 0};
	ucs_status_ptr_t r = ucp_ep_flush_nbx(w->endpoint, &params);
	if (!UCS_PTR_IS_PTR(r)) {
		return UCS_PTR_STATUS(r);
	}
	ucs_status_t status;
	int64_t end = now_ms() + wait_ms;
	while ((status = ucp_request_check_status(r)) == UCS_INPROGRESS && now_ms() < end) {
		if (ucp_worker_progress(w->worker) == 0) {
			sched_yield();
		}
	}
	ucp_request_free(r);
	return status == UCS_INPROGRESS ? UCS_ERR_TIMED_OUT : status;
}

int kv_connect(kv_worker *w, const void *address, const void *key, int flags, int64_t wait_ms) {
	w->flags = flags;
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
		.address = address,
		.err_mode = flags & KV_FORCE ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE,
		.err_handler = {endpoint_failed, w},
	};
	ucs_status_t status = ucp_ep_create(w->worker, &params, &w->endpoint);
	if (status == UCS_OK) {
		status = ucp_ep_rkey_unpack(w->endpoint, key, &w->remote);
	}
	if (status == UCS_OK) {
		status = answered(w, wait_ms);
	}
	return status;
}

// over moves an operation to those that have ended. The thread alone calls it.
static void over(kv_op *op, int status) {
	kv_worker *w = op->worker;
	op->status = status;
	pthread_mutex_lock(&w->mutex);
	list_add(&w->over, op);
	int first = w->over.first == op;
	pthread_mutex_unlock(&w->mutex);
	if (first) {
		signal_fd(w->event);
	}
}

static void get_over(void *request, ucs_status_t status, void *user_data) {
	kv_op *op = user_data;
	list_drop(&op->worker->out, op);
	over(op, status);
	ucp_request_free(request);
}

// begin starts what is queued, and says how much that was, or -1 if the thread is to end.
static int begin(kv_worker *w) {
	pthread_mutex_lock(&w->mutex);
	kv_list todo;
	list_init(&todo);
	if (w->queue.first != NULL && !w->stopping) {
		todo.first = w->queue.first;
		list_init(&w->queue);
	}
	int stopping = w->stopping, failed = w->failed;
	pthread_mutex_unlock(&w->mutex);
	if (stopping) {
		return -1;
	}
	int begun = 0;
	for (kv_op *op = todo.first, *next; op != NULL; op = next, begun++) {
		next = op->next;
		if (failed) { // UCX 1.13 may end the process when it is asked for more
			over(op, failed);
			continue;
		}
		ucp_request_param_t params = {
			.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
			.cb.send = get_over,
			.user_data = op,
		};
		ucs_status_ptr_t r = ucp_get_nbx(w->endpoint, op->to, op->bytes, op->from, w->remote, &params);
		if (UCS_PTR_IS_PTR(r)) {
			list_add(&w->out, op); // it is not over before there is progress
		} else {
			over(op, UCS_PTR_STATUS(r));
		}
	}
	return begun;
}

// rest waits until there may be something to do.
static void rest(kv_worker *w, int ucx_fd) {
	if (ucp_worker_arm(w->worker) != UCS_OK) {
		return; // something has come in the meantime
	}
	struct pollfd fds[2] = {{.fd = w->wake, .events = POLLIN}, {.fd = ucx_fd, .events = POLLIN}};
	poll(fds, 2, sleep_ms);
	uint64_t count;
	ssize_t n = read(w->wake, &count, sizeof count); // resets it, if somebody woke us
	(void)n;
}

// drain waits for the gets that are out, for a second at most.
static void drain(kv_worker *w) {
	for (int64_t end = now_ms() + 1000; w->out.first != NULL && now_ms() < end;) {
		ucp_worker_progress(w->worker);
	}
}

// destroy ends all that is UCX's. Where the endpoint cannot be closed with force it ends with the worker.
static void destroy(kv_worker *w) {
	if (w->endpoint != NULL && w->flags & KV_FORCE) {
		ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
		ucs_status_ptr_t r = ucp_ep_close_nbx(w->endpoint, &force);
		if (UCS_PTR_IS_PTR(r)) {
			while (ucp_request_check_status(r) == UCS_INPROGRESS) {
				ucp_worker_progress(w->worker);
			}
			ucp_request_free(r);
		}
	}
	w->endpoint = NULL;
	if (w->remote != NULL) {
		ucp_rkey_destroy(w->remote);
		w->remote = NULL;
	}
	if (w->address != NULL) {
		ucp_worker_release_address(w->worker, w->address);
		w->address = NULL;
	}
	if (w->worker != NULL) {
		ucp_worker_destroy(w->worker);
		w->worker = NULL;
	}
	if (w->key != NULL) {
		ucp_rkey_buffer_release(w->key);
		w->key = NULL;
	}
	if (w->memory != NULL) {
		ucp_mem_unmap(w->context, w->memory);
		w->memory = NULL;
	}
	if (w->context != NULL) {
		ucp_cleanup(w->context);
		w->context = NULL;
	}
}

static void *run(void *arg) {
	kv_worker *w = arg;
	int ucx_fd = -1;
	ucp_worker_get_efd(w->worker, &ucx_fd); // it was opened with wakeup
	for (int idle = 0;;) {
		int begun = begin(w);
		if (begun < 0) {
			break;
		}
		if (begun + ucp_worker_progress(w->worker) > 0) {
			idle = 0;
		} else if (++idle > spins) {
			idle = 0;
			rest(w, ucx_fd);
		}
	}
	if (w->flags & KV_DRAIN) {
		drain(w);
	}
	destroy(w);
	for (kv_op *op; (op = list_take(&w->out)) != NULL || (op = list_take(&w->queue)) != NULL;) { // nobody adds any more
		over(op, UCS_ERR_CANCELED);
	}
	signal_fd(w->event);
	return NULL;
}

int kv_start(kv_worker *w) {
	if (pthread_create(&w->thread, NULL, run, w) != 0) {
		return UCS_ERR_NO_RESOURCE;
	}
	w->started = 1;
	return UCS_OK;
}

int kv_get(kv_worker *w, uint64_t id, void *to, size_t bytes, uint64_t from) {
	kv_op *op = calloc(1, sizeof *op);
	if (op == NULL) {
		return UCS_ERR_NO_MEMORY;
	}
	*op = (kv_op){.worker = w, .id = id, .from = from, .to = to, .bytes = bytes};
	pthread_mutex_lock(&w->mutex);
	int stopping = w->stopping, first = w->queue.first == NULL;
	if (!stopping) {
		list_add(&w->queue, op);
	}
	pthread_mutex_unlock(&w->mutex);
	if (stopping) {
		free(op);
		return UCS_ERR_CANCELED;
	}
	if (first) {
		signal_fd(w->wake);
	}
	return UCS_OK;
}

size_t kv_ends(kv_worker *w, kv_end *to, size_t max) {
	size_t n = 0;
	pthread_mutex_lock(&w->mutex);
	for (kv_op *op; n < max && (op = list_take(&w->over)) != NULL; n++) {
		to[n] = (kv_end){op->id, op->status};
		free(op);
	}
	pthread_mutex_unlock(&w->mutex);
	return n;
}

int kv_event_fd(kv_worker *w) { return w->event; }

int kv_failed(kv_worker *w) {
	pthread_mutex_lock(&w->mutex);
	int failed = w->failed;
	pthread_mutex_unlock(&w->mutex);
	return failed;
}

void kv_stop(kv_worker *w) {
	pthread_mutex_lock(&w->mutex);
	w->stopping = 1;
	pthread_mutex_unlock(&w->mutex);
	if (w->started && !w->joined) {
		signal_fd(w->wake);
		pthread_join(w->thread, NULL);
		w->joined = 1;
	}
}

void kv_free(kv_worker *w) {
	kv_stop(w);
	destroy(w); // where no thread was started
	kv_end dropped;
	while (kv_ends(w, &dropped, 1) > 0) {
	}
	if (w->wake >= 0) {
		close(w->wake);
	}
	if (w->event >= 0) {
		close(w->event);
	}
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
