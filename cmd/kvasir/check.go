package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/kvasir-engine/kvasir"
)

// checkCmd has the engine's flags, so that the command line of a server can be checked as it is.
type checkCmd struct {
	JSON bool `name:"json" group:"Output" help:"Print the plan as JSON."`

	engineFlags `group:"Engine"`
}

// Help is the second paragraph of the command's help.
func (*checkCmd) Help() string {
	return "Reads the metadata of the model file alone, which is quick for any size. The exit status is 0 if \"kvasir serve\" would start with these flags, else 1. " + envHelp
}

// Run prints the sum that decides whether an engine may start, and the verdict.
func (c *checkCmd) Run(a *app) error {
	cfg, err := c.config(serveSequences)
	if err != nil {
		return err
	}
	cfg.Logger = warnings(a.err)
	plan, err := kvasir.NewPlan(cfg)
	if err != nil {
		return aboutModel(cfg.Model, err)
	}
	show := printPlan
	if c.JSON {
		show = printPlanJSON
	}
	if err := show(a.out, plan); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if plan.Refusal != nil {
		return &exit{status: statusFailed}
	}
	return nil
}

func printPlan(out io.Writer, p kvasir.Plan) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("model", "%s (%s)", p.Model, p.Arch)
	row("weights", "%s", bytesText(p.WeightBytes))
	row("context", "%d tokens; the model's own is %d", p.MaxModelLen, p.ContextLength)
	row("KV per token", "%s of %s", bytesText(int64(p.TokenBytes)), p.KVCacheDType)
	row("page", "%d tokens, %s", p.PageSize, bytesText(int64(p.PageBytes)))
	row("pool", "%d pages, %d tokens, %s", p.Pages, p.PoolTokens, bytesText(p.PoolBytes))
	row("free memory", "%s", bytesText(p.FreeBytes))
	if p.WeightBytes+p.PoolBytes > p.FreeBytes {
		row("warning", "weights and pool together need more memory than is free")
	}
	if p.Refusal != nil {
		row("verdict", "no: %s", plain(p.Refusal))
	} else {
		row("verdict", "yes: every request that fits the context fits the pool")
	}
	return w.Flush()
}

// printPlanJSON prints the fields of kvasir.Plan, and ok and refusal.
func printPlanJSON(out io.Writer, p kvasir.Plan) error {
	verdict := struct {
		kvasir.Plan
		OK      bool   `json:"ok"`
		Refusal string `json:"refusal,omitempty"`
	}{Plan: p, OK: p.Refusal == nil}
	if p.Refusal != nil {
		verdict.Refusal = plain(p.Refusal)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(verdict)
}

// bytesText is a size for people, in powers of 1024, with a decimal where that says something.
func bytesText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	x, i := float64(n), 0
	for x >= 1024 && i < len(units)-1 {
		x, i = x/1024, i+1
	}
	if x == float64(int64(x)) || x >= 100 {
		return fmt.Sprintf("%.0f %s", x, units[i])
	}
	return fmt.Sprintf("%.1f %s", x, units[i])
}
