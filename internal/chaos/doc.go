// Package chaos has tests alone: prefill nodes, decode nodes and a gateway, each a process of its own, answer questions while they are killed, stopped, drained, started again and cut off from each
// other, in each phase of a request. Each prompt has a secret of its client, and the built-in model repeats what it is told. Whatever happens:
//
//   - no client is told the secret of another,
//   - an answer that is whole is the one that a single node gives, and one that is not is the beginning of it,
//   - each request has one outcome: a whole answer, an error status, or an error in the stream; never an answer that just stops,
//   - when the fault is over every page comes home and questions are answered again, and nobody has started anything again but what the fault itself had ended.
//
// CHAOS=10m goes on for so long with faults at random in a larger cluster (make chaos). The faults of the network need root, for network namespaces.
package chaos
