package kvpool

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"testing"
)

// TestPure: the package imports nothing that has a clock, a thread, chance or the outside world in it, starts no goroutine, knows no channel, and never
// ranges over the one kind of thing whose order is not its own.
func TestPure(t *testing.T) {
	pkg, err := build.Default.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{
		"crypto/sha256": true, "encoding/binary": true, "fmt": true, "hash": true, "math/bits": true, "strings": true,
		"github.com/kvasir-engine/kvasir/kvpool/page": true, "github.com/kvasir-engine/kvasir/request": true,
	}
	for _, path := range pkg.Imports {
		if !allowed[path] {
			t.Errorf("imports %s", path)
		}
	}
	files := token.NewFileSet()
	maps := map[string]bool{} // fields and variables of a map type
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
	if !maps["byLink"] {
		t.Fatal("the search for maps finds none")
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
