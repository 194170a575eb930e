package sim

// special is a cluster and a plan that a test makes by hand.
type special struct {
	pageSize int
	node     func(*node)
	plan     func(*sim)
}
