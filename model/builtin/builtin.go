// Package builtin carries the model that Kvasir uses when no other is named: kvasir-mini, 0.9 million parameters, so small that it travels inside the
// binary. It was taught one useful thing, to look back: it remembers what it is told, repeats words, counts, and tells little stories. So an answer depends
// on the exact content of the pages that hold the prompt, and a wrong or foreign page shows as a wrong answer.
//
// README.md tells its origin; train/ makes it again.
package builtin

import _ "embed"

// Name is the served name of the built-in model.
const Name = "kvasir-mini"

// GGUF is the model file. It must not be changed.
//
//go:embed kvasir-mini-q8_0.gguf
var GGUF []byte
