// Package plot draws line charts as SVG.
package plot

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strconv"
)

// Chart is a line chart with logarithmic axes, on which a cost that grows in proportion is a straight line at 45 degrees if both axes have one scale.
type Chart struct {
	Title, X, Y string
	Series      []Series
}

// Series is one line. All numbers are positive.
type Series struct {
	Name   string
	Points []Point
}

// Point is a measurement.
type Point struct{ X, Y float64 }

// Sizes in pixels.
const (
	width, height             = 640, 400
	left, right, top, bottom  = 72, 24, 44, 56
	legendX, legendY, legendH = left + 12, top + 16, 18
)

// colors stay apart for the colour-blind (Okabe and Ito 2008), on light and dark pages.
var colors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7"}

// SVG draws the chart. Without a point it is empty.
func (c Chart) SVG() []byte {
	x, y := newAxis(c.Series, func(p Point) float64 { return p.X }), newAxis(c.Series, func(p Point) float64 { return p.Y })
	px := func(v float64) float64 { return left + x.at(v)*(width-left-right) }
	py := func(v float64) float64 { return height - bottom - y.at(v)*(height-top-bottom) }
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	text := func(x, y float64, anchor, more, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="#222222"%s>%s</text>`+"\n", x, y, anchor, more, html.EscapeString(s))
	}
	line := func(x1, y1, x2, y2 float64) {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", x1, y1, x2, y2)
	}
	text(width/2, 24, "middle", ` font-size="15"`, c.Title)
	text((left+width-right)/2, height-12, "middle", "", c.X)
	text(18, (top+height-bottom)/2, "middle", fmt.Sprintf(` transform="rotate(-90 18 %d)"`, (top+height-bottom)/2), c.Y)
	for _, v := range x.ticks() {
		line(px(v), top, px(v), height-bottom)
		text(px(v), height-bottom+18, "middle", "", number(v))
	}
	for _, v := range y.ticks() {
		line(left, py(v), width-right, py(v))
		text(left-8, py(v)+4, "end", "", number(v))
	}
	for i, s := range c.Series {
		color := colors[i%len(colors)]
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2" points="`, color)
		for _, p := range s.Points {
			fmt.Fprintf(&b, "%.1f,%.1f ", px(p.X), py(p.Y))
		}
		b.WriteString(`"/>` + "\n")
		for _, p := range s.Points {
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", px(p.X), py(p.Y), color)
		}
		if len(c.Series) > 1 {
			at := float64(legendY + i*legendH)
			fmt.Fprintf(&b, `<circle cx="%d" cy="%.1f" r="4" fill="%s"/>`+"\n", legendX, at-4, color)
			text(legendX+10, at, "start", "", s.Name)
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// axis spans values logarithmically. The zero axis is that of no values.
type axis struct{ low, high float64 }

func newAxis(series []Series, value func(Point) float64) axis {
	a := axis{math.Inf(1), 0}
	for _, s := range series {
		for _, p := range s.Points {
			a.low, a.high = min(a.low, value(p)), max(a.high, value(p))
		}
	}
	if a.high == 0 {
		return axis{}
	}
	if a.high < 10*a.low { // less than a decade would make noise look like growth
		middle := math.Sqrt(a.low * a.high)
		a = axis{middle / math.Sqrt(10), middle * math.Sqrt(10)}
	}
	return axis{a.low / 1.15, a.high * 1.15}
}

// at is where v lies, from 0 to 1.
func (a axis) at(v float64) float64 { return math.Log(v/a.low) / math.Log(a.high/a.low) }

// ticks are 1, 2 and 5 times powers of ten, or powers of ten alone where these would be many.
func (a axis) ticks() (all []float64) {
	if a.high == 0 {
		return nil
	}
	steps := []float64{1, 2, 5}
	if a.high > 3000*a.low {
		steps = steps[:1]
	}
	for decade := math.Pow(10, math.Floor(math.Log10(a.low))); decade <= a.high; decade *= 10 {
		for _, s := range steps {
			if v := decade * s; v >= a.low && v <= a.high {
				all = append(all, v)
			}
		}
	}
	return all
}

// number is a tick's label: 0.05, 20, 10k.
func number(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 6, 64) + "M"
	case v >= 1e3:
		return strconv.FormatFloat(v/1e3, 'g', 6, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
