package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/wire"
)

// ReadExpected reads the expected list of a batch and gives the path it came from: the file that given (--expect) names, or
// where a folder is configured and no flag is given, the one in it that is named after the batch, ID.txt or ID.json. Where a
// folder is configured, a name without a slash is one in it, and any other must lead into it, symbolic links followed. A
// path of "" is no list. Errors are INVALID_CONFIG for both ID.txt and ID.json, for a list outside the folder and one that
// others could have changed; NOT_FOUND; those of durable.ReadFile.
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
		path, err = s.listInside(given)
	}
	if path == "" || err != nil {
		return "", nil, err
	}
	data, err = ReadTrusted(path, wire.MaxFileBytes)
	return path, data, err
}

// listOf looks for the list that is named after a batch.
func (s *Settings) listOf(batchID string) (path string, err error) {
	if !wire.IsID(batchID) { // it becomes the name of a file
		return "", wire.CheckID("the batch", batchID)
	}
	for _, extension := range []string{".txt", ".json"} {
		candidate := filepath.Join(s.ExpectedLists.Value, batchID+extension)
		switch _, err := os.Lstat(candidate); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", wire.Errorf(wire.IOError, "", "%w", err)
		case path != "":
			return "", refuse("expected_lists", s.ExpectedLists.Origin, "%s and %s are both there; wanted: one list", path, candidate)
		default:
			path = candidate
		}
	}
	if path == "" {
		return "", nil
	}
	return s.listInside(path)
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
