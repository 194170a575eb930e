// Package measure tells how fast an engine reads prompts and writes answers, what a cached prefix saves, and how fast this machine can read memory, which bounds
// decoding. Beside it, load drives servers, randmodel writes models of random weights, plot draws, and growth measures how times grow.
//
// Engines are measured from the outside, through Generate, so that scheduler and pool costs are in the figures.
package measure
