package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// drawn reads the elements of a chart.
func drawn(t *testing.T, svg []byte) (all []xml.StartElement) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := tok.(xml.StartElement); ok {
			all = append(all, e)
		}
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func coordinates(t *testing.T, svg []byte) (points []Point) {
	t.Helper()
	for _, e := range drawn(t, svg) {
		if e.Name.Local != "polyline" {
			continue
		}
		for pair := range strings.FieldsSeq(attr(e, "points")) {
			x, y, _ := strings.Cut(pair, ",")
			var p Point
			var err1, err2 error
			p.X, err1 = strconv.ParseFloat(x, 64)
			p.Y, err2 = strconv.ParseFloat(y, 64)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			points = append(points, p)
		}
	}
	return points
}

func TestPointsLieWhereTheyShould(t *testing.T) {
	svg := Chart{Title: "a < b", X: "x", Y: "y", Series: []Series{{Name: "one", Points: []Point{{1, 3}, {10, 30}, {100, 300}}}, {Name: "two", Points: []Point{{1, 100}}}}}.SVG()
	points := coordinates(t, svg)
	if len(points) != 4 {
		t.Fatalf("%d points, want 4: %s", len(points), svg)
	}
	for _, p := range points {
		if p.X < left || p.X > width-right || p.Y < top || p.Y > height-bottom {
			t.Errorf("%v lies outside", p)
		}
	}
	if a, b, c := points[0], points[1], points[2]; math.Abs((b.X-a.X)-(c.X-b.X)) > 0.2 || math.Abs((b.Y-a.Y)-(c.Y-b.Y)) > 0.2 || b.X <= a.X || b.Y >= a.Y {
		t.Errorf("equal factors are not equal steps to the right and up: %v %v %v", a, b, c)
	}
	for _, want := range []string{"a &lt; b", ">one<", ">two<", ">10<", ">100<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("%q is not drawn", want)
		}
	}
}

// Values that hardly differ are drawn as what they are.
func TestNoiseIsNotMagnified(t *testing.T) {
	points := coordinates(t, Chart{Series: []Series{{Points: []Point{{1, 100}, {10, 103}, {100, 99}}}}}.SVG())
	if math.Abs(points[0].Y-points[1].Y) > 0.02*height {
		t.Errorf("3 %% more is drawn as %v pixels", points[0].Y-points[1].Y)
	}
}

func TestAnEmptyChartIsDrawn(t *testing.T) {
	if n := len(drawn(t, Chart{Title: "nothing"}.SVG())); n < 2 {
		t.Errorf("%d elements", n)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0.05: "0.05", 1: "1", 500: "500", 1000: "1k", 20_000: "20k", 5e6: "5M"} {
		if got := number(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
