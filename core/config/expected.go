package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/wire"
)

// ReadExpected reads the expected list of a batch and gives the path it came from: the file that given (--expect) names, or
// where a folder is configured and no flag is given, the one in it that is named after the batch, ID.txt or ID.json. Where a
// folder is configured, a name without a slash is one in it, and any other must lead into it, symbolic links followed. A
// path of "" is no list. Where the batch has a list of its own, a flag names that one: another list of the folder may be that
// of other machines. Errors are INVALID_CONFIG for both ID.txt and ID.json, for a list outside the folder, for that of
// another batch and one that others could have changed; NOT_FOUND; those of durable.ReadFile.
func (s *Settings) ReadExpected(given, batchID string) (path string, data []byte, err error) {
	if !s.ExpectedLists.IsSet() {
		if given == "" {
			return "", nil, nil
		}
		data, err = durable.ReadFile(given, wire.MaxFileBytes)
		return given, data, err
	}
	if given == "" {
		path, err = s.listOf(batchID)
	} else {
		path, err = s.listNamed(given, batchID)
	}
	if path == "" || err != nil {
		return "", nil, err
	}
	data, err = ReadTrusted(path, wire.MaxFileBytes)
	return path, data, err
}

// listOf looks for the list that is named after a batch.
func (s *Settings) listOf(batchID string) (path string, err error) {
	own, err := s.ownLists(batchID)
	switch {
	case err != nil || len(own) == 0:
		return "", err
	case len(own) > 1:
		return "", refuse("expected_lists", s.ExpectedLists.Origin, "%s and %s are both there; wanted: one list", own[0], own[1])
	}
	if path, err = s.listInside(own[0]); wire.CodeOf(err) == wire.InvalidConfig { // no flag said so
		return "", refuse("expected_lists", s.ExpectedLists.Origin, "%s leads out of the folder", own[0])
	}
	return path, err
}

// ownLists gives the lists that are there and named after a batch.
func (s *Settings) ownLists(batchID string) (paths []string, err error) {
	if !wire.IsID(batchID) { // it becomes the name of a file
		return nil, wire.CheckID("the batch", batchID)
	}
	for _, extension := range []string{".txt", ".json"} {
		candidate := filepath.Join(s.ExpectedLists.Value, batchID+extension)
		switch _, err := os.Lstat(candidate); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, wire.Errorf(wire.IOError, "", "%w", err)
		default:
			paths = append(paths, candidate)
		}
	}
	return paths, nil
}

// listNamed gives the list that --expect names, which is the batch's own where it has one.
func (s *Settings) listNamed(given, batchID string) (path string, err error) {
	if path, err = s.listInside(given); err != nil {
		return "", err
	}
	own, err := s.ownLists(batchID)
	if err != nil {
		return "", err
	}
	if len(own) > 0 && !slices.ContainsFunc(own, func(list string) bool { return samePath(path, list) }) {
		return "", contradicts(wire.InvalidConfig, "--expect", given, own[0], s.ExpectedLists.Origin, "name the list of this batch")
	}
	return path, nil
}

// listInside refuses a list that does not lie in the folder.
func (s *Settings) listInside(given string) (path string, err error) {
	folder := s.ExpectedLists.Value
	path = given
	if !strings.ContainsRune(given, filepath.Separator) {
		path = filepath.Join(folder, given)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", wire.Errorf(wire.NotFound, "", "%s: there is no such file", path)
	}
	var realFolder, relative string
	if err == nil {
		realFolder, err = filepath.EvalSymlinks(folder)
	}
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err == nil {
		realFolder, err = filepath.Abs(realFolder)
	}
	if err == nil {
		relative, err = filepath.Rel(realFolder, real)
	}
	if err != nil {
		return "", wire.Errorf(wire.IOError, "", "%w", err)
	}
	if !filepath.IsLocal(relative) {
		return "", contradicts(wire.InvalidConfig, "--expect", given, folder, s.ExpectedLists.Origin, "name a list of that folder")
	}
	return path, nil
}
