package chat

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ardanlabs/jinja"
)

// Limits of a template. The library has none, and a template comes out of a file that somebody made; these stop one that loops,
// recurses, or makes more and more text.
const (
	maxSourceBytes = 128 << 10 // the longest public templates have 25 KiB
	maxDepth       = 50        // macros within macros
	maxRange       = 100_000   // as in Jinja2's sandbox
	maxValues      = 1 << 18   // in one value that is kept or printed
	maxValueDepth  = 64        // lists and dicts within each other, so that none can be printed that holds itself

	// For all renderings of a conversation together; see budget.
	maxSteps = 1 << 19 // passes of loops and calls of macros
	maxTime  = 5 * time.Second

	// The text that a template makes, macros and kept values included, may have outputBase bytes and outputFactor for each of the messages'.
	outputBase   = 4 << 20
	outputFactor = 16
)

// Names of the guards in a prepared template. A source that has the prefix is refused.
const (
	guardPrefix = "kvasir_guard_"
	stepName    = guardPrefix + "step"  // at each pass of a loop
	enterName   = guardPrefix + "enter" // at a macro's start
	leaveName   = guardPrefix + "leave" // at a macro's end
	putName     = guardPrefix + "put"   // round what is printed
	keepName    = guardPrefix + "keep"  // round what a variable is set to
	scopeName   = guardPrefix + "scope" // round the body of a loop that sets variables
)

// budget is what all renderings of one conversation may take together. It lives as long as the call that it was made for.
type budget struct {
	ctx      context.Context
	steps    int // taken
	deadline time.Time
}

func newBudget(ctx context.Context) *budget {
	return &budget{ctx: ctx, deadline: time.Now().Add(maxTime)}
}

func (b *budget) step() error {
	if b.steps++; b.steps > maxSteps {
		return fmt.Errorf("it takes more than %d steps", maxSteps)
	}
	if b.steps%256 == 0 {
		return b.check()
	}
	return nil
}

// check tells whether nobody waits any more or the time is over.
func (b *budget) check() error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(b.deadline) {
		return fmt.Errorf("it takes longer than %v", maxTime)
	}
	return nil
}

// guard counts what one rendering does. It is called from the prepared template.
//
// What it cannot see lies within a single expression: a string multiplied by a great number, or a list that was appended to itself and is
// then turned to text by a filter. So a template remains as trusted as the file it came in.
type guard struct {
	budget   *budget
	depth    int
	bytes    int
	maxBytes int
}

func newGuard(b *budget, messageBytes int) *guard {
	return &guard{budget: b, maxBytes: outputBase + outputFactor*messageBytes}
}

type function = func(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error)

// define adds the guards to the names that a template can use.
func (g *guard) define(names map[string]jinja.Value) {
	for name, f := range map[string]function{
		stepName: g.step, enterName: g.enter, leaveName: g.leave, putName: g.put, keepName: g.keep, scopeName: scope, "range": boundedRange,
	} {
		names[name] = jinja.NewCallable(name, f)
	}
}

func (g *guard) step([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
	return jinja.Undefined(), g.budget.step()
}

func (g *guard) enter([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
	if g.depth++; g.depth > maxDepth {
		return jinja.Undefined(), fmt.Errorf("its macros call each other deeper than %d", maxDepth)
	}
	return g.step(nil, nil)
}

func (g *guard) leave([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
	g.depth--
	return jinja.Undefined(), nil
}

// scope renders the body of the call block that it stands in, which the library does in a scope of its own.
func scope(_ []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	return kwargs["caller"].AsCallable().Fn(nil, nil)
}

// put passes on a value that is going to be printed.
func (g *guard) put(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	v, size, err := measured(args)
	if err != nil {
		return v, err
	}
	if g.bytes += size; g.bytes > g.maxBytes {
		return v, fmt.Errorf("it makes more than %d bytes of text", g.maxBytes)
	}
	return v, nil
}

// keep passes on a value that a variable is going to have.
func (g *guard) keep(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	v, size, err := measured(args)
	if err == nil && size > g.maxBytes {
		err = fmt.Errorf("it keeps more than %d bytes in a variable", g.maxBytes)
	}
	return v, err
}

// measured returns the one argument and the bytes of its text, about.
func measured(args []jinja.Value) (jinja.Value, int, error) {
	switch len(args) {
	case 0: // an empty expression
		return jinja.Undefined(), 0, nil
	case 1:
		values := 0
		size, err := measure(args[0], 0, &values)
		return args[0], size, err
	default:
		return jinja.Undefined(), 0, fmt.Errorf("a tag has %d expressions, must have one", len(args))
	}
}

func measure(v jinja.Value, depth int, values *int) (size int, err error) {
	if *values++; *values > maxValues || depth > maxValueDepth {
		return 0, fmt.Errorf("it makes a value of more than %d parts or %d levels", maxValues, maxValueDepth)
	}
	switch {
	case v.IsString():
		return len(v.AsString()), nil
	case v.IsList():
		for _, item := range v.AsList().Items {
			n, err := measure(item, depth+1, values)
			if err != nil {
				return 0, err
			}
			size += n + len(", ")
		}
	case v.IsDict():
		d := v.AsDict()
		for _, key := range d.Keys {
			n, err := measure(d.Data[key], depth+1, values)
			if err != nil {
				return 0, err
			}
			size += n + len(key) + len(", '': ")
		}
	}
	return size, nil
}

// boundedRange is Python's range as a list, of at most maxRange numbers.
func boundedRange(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	bounds := []int64{0, 0, 1} // start, stop, step
	if len(args) < 1 || len(args) > 3 {
		return jinja.Undefined(), fmt.Errorf("range takes 1 to 3 numbers, not %d", len(args))
	}
	for i, arg := range args {
		if !arg.IsInt() {
			return jinja.Undefined(), fmt.Errorf("range takes integers, not %s", strings.TrimSpace(arg.String()))
		}
		if len(args) == 1 {
			i = 1
		}
		bounds[i] = arg.AsInt()
	}
	start, stop, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return jinja.Undefined(), fmt.Errorf("range has a step of 0")
	}
	var items []jinja.Value
	for n := start; step > 0 && n < stop || step < 0 && n > stop; n += step {
		if items = append(items, jinja.NewInt(n)); len(items) > maxRange {
			return jinja.Undefined(), fmt.Errorf("range has more than %d numbers", maxRange)
		}
	}
	return jinja.NewList(items), nil
}
