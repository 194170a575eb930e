// Package puretest holds the source of a package against what makes it a function of its inputs: no goroutine, no channel, and no walk over a map, whose order is chance.
package puretest

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"testing"
)

// Check looks at the package in the working directory, tests left out, and returns what it imports, which the caller judges. known are names of fields or parameters of a map type that the package has: a search
// that does not find them finds nothing.
func Check(t *testing.T, known ...string) (imports []string) {
	t.Helper()
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	maps := mapsOf(files)
	for _, name := range known {
		if !maps[name] {
			t.Fatalf("the search for maps does not find %s", name)
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt:
				t.Errorf("%v: a goroutine or channel", set.Position(n.Pos()))
			case *ast.RangeStmt:
				if x, ok := n.X.(*ast.SelectorExpr); ok && maps[x.Sel.Name] {
					t.Errorf("%v: ranges over a map", set.Position(n.Pos()))
				}
			}
			return true
		})
	}
	return pkg.Imports
}

// mapsOf are the names of fields and parameters of a map type.
func mapsOf(files []*ast.File) map[string]bool {
	maps := map[string]bool{}
	for _, f := range files {
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
	return maps
}
