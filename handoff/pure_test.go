package handoff

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// TestPure: nothing but events decides what a core does. It starts no goroutine, knows no clock, and never ranges over a map.
func TestPure(t *testing.T) {
	pkg, err := build.Default.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"time", "os", "sync", "context", "math/rand", "math/rand/v2", "crypto/rand", "runtime"} {
		if slices.Contains(pkg.Imports, path) {
			t.Errorf("imports %s", path)
		}
	}
	files, maps := token.NewFileSet(), map[string]bool{}
	var parsed []*ast.File
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
		ast.Inspect(f, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok {
				if _, ok := field.Type.(*ast.MapType); ok {
					for _, name := range field.Names {
						maps[name.Name] = true
					}
				}
			}
			return true
		})
	}
	if !maps["byName"] || !maps["named"] {
		t.Fatal("the search for maps does not find what is there")
	}
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt:
				t.Errorf("%v: a goroutine or channel", files.Position(n.Pos()))
			case *ast.RangeStmt:
				if x, ok := n.X.(*ast.SelectorExpr); ok && maps[x.Sel.Name] {
					t.Errorf("%v: ranges over a map", files.Position(n.Pos()))
				}
			}
			return true
		})
	}
}
