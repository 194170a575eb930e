// Package chat turns a conversation into a prompt with the chat template of a model file: a Jinja2 template as
// Hugging Face's tokenizers render it.
//
// # Special tokens in messages
//
// A template writes special tokens as text ("<|im_end|>"), and a user can write the same text. Whoever tokenises the rendered text with
// special tokens recognised everywhere lets users end their turn and speak as somebody else. [Template.RenderParts] tells apart what the template
// wrote from what came in a message, so that special tokens are recognised in the former only.
package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/ardanlabs/jinja"
	"github.com/kvasir-engine/kvasir/request"
)

// Options are what a template knows beside the conversation.
type Options struct {
	// BOS and EOS are the texts of the model's beginning-of-sequence and end-of-sequence tokens, bos_token and eos_token to the
	// template. A template that writes BOS wants no other before the prompt.
	BOS, EOS string
	// Special are the texts that the tokenizer recognises as control tokens, for RenderParts to refuse where it cannot tell who wrote them.
	// Without them nothing is refused.
	Special []string
	// Now is the time that strftime_now tells. nil: time.Now.
	Now func() time.Time
}

// Template is a compiled chat template. It is safe for concurrent use.
type Template struct {
	compiled *jinja.Template
	options  Options
}

// New compiles the source of a chat template (tokenizer.chat_template of a model file).
func New(source string, options Options) (*Template, error) {
	if len(source) > maxSourceBytes {
		return nil, fmt.Errorf("chat: the template has %d bytes; at most %d are allowed", len(source), maxSourceBytes)
	}
	if strings.Contains(source, guardPrefix) {
		return nil, fmt.Errorf("chat: the template uses a name with %s, which is reserved", guardPrefix)
	}
	prepared, err := prepare(source)
	if err != nil {
		return nil, fmt.Errorf("chat: %w", err)
	}
	compiled, err := compile(prepared)
	if err != nil {
		return nil, fmt.Errorf("chat: %w", err)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Template{compiled: compiled, options: options}, nil
}

// compile makes a panic of the library an error: the source is not ours.
func compile(source string) (t *jinja.Template, err error) {
	defer recovered(&err)
	return jinja.Compile(source)
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%v", p)
	}
}

// chatML is the format that OpenAI published in 2023 and many models were tuned on.
const chatML = `{% for message in messages -%}
{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt -%}
{{ '<|im_start|>assistant\n' }}
{%- endif %}`

// ChatML returns the template for a model file that has none.
func ChatML() *Template {
	t, err := New(chatML, Options{Special: []string{"<|im_start|>", "<|im_end|>"}})
	if err != nil {
		panic(err)
	}
	return t
}

// Render returns the prompt for a conversation; with addGenerationPrompt it ends where the assistant's answer begins.
//
// What the template refuses, by raise_exception or because it cannot be carried out, is a *request.Rejection of the field "messages".
// So is a role or a name of other characters than letters, digits, '_', '-' and '.': templates write them next to special tokens.
// Where ctx ends, the error is ctx's.
func (t *Template) Render(ctx context.Context, msgs []request.Message, addGenerationPrompt bool) (string, error) {
	if err := validate(msgs); err != nil {
		return "", err
	}
	return t.render(newBudget(ctx), msgs, addGenerationPrompt, t.options.Now())
}

func validate(msgs []request.Message) error {
	if len(msgs) == 0 {
		return request.Invalid("messages", "messages is empty; it must have at least one message.")
	}
	for i, m := range msgs {
		if m.Role == "" || !plain(m.Role) {
			return request.Invalid("messages", "messages[%d] has the role %q; a role is letters, digits, '_', '-' and '.', at most %d.", i, m.Role, maxNameBytes)
		}
		if !plain(m.Name) {
			return request.Invalid("messages", "messages[%d] has the name %q; a name is letters, digits, '_', '-' and '.', at most %d.", i, m.Name, maxNameBytes)
		}
	}
	return nil
}

const maxNameBytes = 64

func plain(s string) bool {
	return len(s) <= maxNameBytes && strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	}) < 0
}

// refusal is the error of raise_exception.
type refusal struct{ message string }

func (r *refusal) Error() string { return r.message }

// render carries out the template. The error is nil, that of the budget's context, or a *request.Rejection.
func (t *Template) render(b *budget, msgs []request.Message, addGenerationPrompt bool, now time.Time) (string, error) {
	err := b.check()
	if err == nil {
		var text string
		if text, err = t.execute(b, msgs, addGenerationPrompt, now); err == nil {
			return text, nil
		}
	}
	return "", rejection(b, err)
}

// rejection tells the client why a rendering ended.
func rejection(b *budget, err error) error {
	if gone := b.ctx.Err(); gone != nil {
		return gone
	}
	var refused *refusal
	if errors.As(err, &refused) {
		return request.Invalid("messages", "%s", refused.message)
	}
	return request.Invalid("messages", "The model's chat template cannot render these messages: %v.", err)
}

func (t *Template) execute(b *budget, msgs []request.Message, addGenerationPrompt bool, now time.Time) (text string, err error) {
	defer recovered(&err)
	messages := make([]jinja.Value, len(msgs))
	size := 0
	for i, m := range msgs {
		value := jinja.NewDict()
		d := value.AsDict()
		d.Set("role", jinja.NewString(m.Role))
		d.Set("content", jinja.NewString(m.Content))
		if m.Name != "" {
			d.Set("name", jinja.NewString(m.Name))
		}
		messages[i] = value
		size += len(m.Role) + len(m.Content) + len(m.Name)
	}
	names := map[string]jinja.Value{
		"messages":              jinja.NewList(messages),
		"add_generation_prompt": jinja.NewBool(addGenerationPrompt),
		"bos_token":             jinja.NewString(t.options.BOS),
		"eos_token":             jinja.NewString(t.options.EOS),
		"tools":                 jinja.None(), // Hugging Face defines these two also where there are none
		"documents":             jinja.None(),
		"raise_exception": jinja.NewCallable("raise_exception", func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
			return jinja.Undefined(), &refusal{textOf(args)}
		}),
		"strftime_now": jinja.NewCallable("strftime_now", func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
			return jinja.NewString(strftime(now, textOf(args))), nil
		}),
	}
	newGuard(b, size).define(names)
	return t.compiled.RenderValues(names)
}

// textOf is the first argument, if it is a string.
func textOf(args []jinja.Value) string {
	if len(args) == 0 || !args[0].IsString() {
		return ""
	}
	return args[0].AsString()
}
