package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// readNames adds the names of .pub files, and of those in folders, to the labels of keys, and gives the files: what a key is
// called already stays.
func readNames(given []string, labels map[quorum.KID]string) (files []string, err error) {
	paths, err := listed("--names", given)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, wire.Errorf(wire.IOError, "", "%w", err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".pub") {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
	}
	keys, err := readPublicKeys(files)
	if err != nil {
		return nil, err
	}
	names := make(map[string]quorum.KID) // two keys of one name here are told apart
	for i, key := range keys {
		name := fileName(files[i])
		if other, twice := names[name]; twice && other != key.KID() {
			name = files[i]
		}
		names[name] = key.KID()
		if label := labels[key.KID()]; label == "" || strings.HasSuffix(label, ".proof") {
			labels[key.KID()] = name
		}
	}
	return files, nil
}
