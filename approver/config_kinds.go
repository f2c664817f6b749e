package main

import (
	"bytes"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/wire"
)

// kindTable gives the kinds of --kinds or the configuration beside the built-in ones: of the configured table where there is one,
// whatever flag repeats it.
func (a *app) kindTable(flag string) (*kindsFile, error) {
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	path, err := s.TightenKinds(flag, sameKinds)
	if err != nil {
		return nil, err
	}
	if !s.Kinds.IsSet() {
		return readKinds(path)
	}
	// What is read is what was looked at: nobody else could have changed the table or its descriptor set.
	file, err := readKindsFile(path, config.ReadTrusted)
	if err != nil {
		return nil, wire.Errorf(wire.InvalidConfig, "", "%s: kinds: %s", s.Kinds.Origin, wire.MessageOf(err)).With("key", "kinds")
	}
	return file, nil
}

// descriptorSetOf gives the path of the descriptor set of a table.
func descriptorSetOf(table string) (string, error) {
	data, err := durable.ReadFile(table, wire.MaxTOMLBytes)
	if err != nil {
		return "", err
	}
	file, err := kinds.ParseTableFile(data)
	if err != nil {
		return "", err
	}
	return beside(table, file.DescriptorSet()), nil
}

// sameKinds tells whether two tables and their descriptor sets have the same bytes.
func sameKinds(a, b string) (bool, error) {
	setA, errA := descriptorSetOf(a)
	if errA != nil {
		return false, errA
	}
	setB, errB := descriptorSetOf(b)
	if errB != nil {
		return false, errB
	}
	for _, pair := range [][2]string{{a, b}, {setA, setB}} {
		dataA, err := durable.ReadFile(pair[0], kinds.MaxDescriptorSetBytes)
		if err != nil {
			return false, err
		}
		dataB, err := durable.ReadFile(pair[1], kinds.MaxDescriptorSetBytes)
		if err != nil || !bytes.Equal(dataA, dataB) {
			return false, err
		}
	}
	return true, nil
}
