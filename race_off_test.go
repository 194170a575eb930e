//go:build !race

package kvasir

const raceEnabled = false
