package kvasir_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/kvasir-engine/kvasir"
)

// Ask the built-in model and print the answer as it comes.
func Example() {
	ctx := context.Background()
	eng, err := kvasir.Open(ctx, kvasir.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	req := kvasir.Request{Messages: []kvasir.Message{{Role: "user", Content: "Remember that the door code is QX-4821. What is the door code?"}}}
	for tok, err := range eng.Generate(ctx, req) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(tok.Text)
	}
	// Output: The door code is QX-4821.
}

// Breaking out of the loop cancels the request: its pages go home at once.
func ExampleEngine_Generate_break() {
	eng, err := kvasir.Open(context.Background(), kvasir.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	n := 0
	for _, err := range eng.Generate(context.Background(), kvasir.Request{Prompt: "Once upon a time", IgnoreEOS: true}) {
		if err != nil {
			log.Fatal(err)
		}
		if n++; n == 5 {
			break
		}
	}
	fmt.Println(n, "tokens")
	// Output: 5 tokens
}

// A request that does not fit is refused before it begins, with the numbers.
func ExampleRejection() {
	eng, err := kvasir.Open(context.Background(), kvasir.Config{MaxModelLen: 256})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	for _, err := range eng.Generate(context.Background(), kvasir.Request{Prompt: "Hello", MaxTokens: 1000}) {
		var r *kvasir.Rejection
		if errors.Is(err, kvasir.ErrContextLength) && errors.As(err, &r) {
			fmt.Println("needs", r.Have > 1000, "has", r.Max)
		}
	}
	// Output: needs true has 256
}

// A conversation remembers what was said.
func ExampleEngine_Chat() {
	ctx := context.Background()
	eng, err := kvasir.Open(ctx, kvasir.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	chat := eng.Chat()
	for _, text := range []string{"Remember that the door code is QX-4821.", "What is the door code?"} {
		var answer strings.Builder
		for tok, err := range chat.Say(ctx, text) {
			if err != nil {
				log.Fatal(err)
			}
			answer.WriteString(tok.Text)
		}
		fmt.Println(strings.Contains(answer.String(), "QX-4821"))
	}
	// Output:
	// false
	// true
}

// The OpenAI-compatible API as an http.Handler, for a server of one's own.
func ExampleEngine_Handler() {
	eng, err := kvasir.Open(context.Background(), kvasir.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	srv := httptest.NewServer(eng.Handler())
	defer srv.Close()
	resp, err := srv.Client().Post(srv.URL+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"messages":[{"role":"user","content":"Hello!"}],"temperature":0}`))
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 200 OK
}
