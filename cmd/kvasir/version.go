package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/kvasir-engine/kvasir"
)

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(a *app) error {
	kernels, err := kvasir.CPUKernels()
	if err != nil {
		return err
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	_, err = fmt.Fprintf(a.out, "kvasir %s\n%s, %s/%s\nCPU kernels: %s\n", version(info), runtime.Version(), runtime.GOOS, runtime.GOARCH, kernels)
	return err
}

// version is the module's version, with the commit where that is known and not part of it.
func version(info *debug.BuildInfo) string {
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "development"
	}
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	if commit := setting["vcs.revision"]; commit != "" && v == "development" {
		v += " " + commit[:min(len(commit), 12)]
		if setting["vcs.modified"] == "true" {
			v += " with changes"
		}
	}
	return v
}
