// Package wire turns the messages of the pure parts ([kvpool.Message], [handoff.Message]) into those of protos/kvasir and back.
//
// Both directions are exact: what is decoded equals what was encoded, in the fields that count for its kind. A number that its field cannot hold, an enumeration's unknown value, a
// missing part or a hash of another length is an error that names the field. Whether a message makes sense is not judged here, but by those whom it is for.
package wire
