package sim

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// TestPure: nothing but the seed decides a run. The package starts no goroutine, knows no clock, and never ranges over a map.
func TestPure(t *testing.T) {
	pkg, err := build.Default.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"time", "os", "sync", "context", "crypto/rand", "runtime"} {
		if slices.Contains(pkg.Imports, path) {
			t.Errorf("imports %s", path)
		}
	}
	files := token.NewFileSet()
	maps := map[string]bool{} // names of fields and parameters of a map type
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
	if !maps["seqs"] || !maps["tables"] || !maps["moved"] {
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
