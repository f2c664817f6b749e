package main

import (
	"os"
	"strings"
)

// sharedPlace gives the first flag whose output would be where one before it is, however both are spelled, or "". Found out
// later, it would cost a review, a PIN and a signature.
func sharedPlace(flags, paths []string) string {
	for i, path := range paths {
		for _, before := range paths[:i] {
			if path != "" && before != "" && samePlace(path, before) {
				return flags[i]
			}
		}
	}
	return ""
}

// samePlace tells whether two paths name one entry of one folder, which need not be there yet.
func samePlace(a, b string) bool {
	folderA, nameA := placeOf(a)
	folderB, nameB := placeOf(b)
	infoA, errA := os.Stat(folderA)
	infoB, errB := os.Stat(folderB)
	return nameA == nameB && (folderA == folderB || errA == nil && errB == nil && os.SameFile(infoA, infoB))
}

// placeOf cleans nothing: after a symbolic link ".." is not where the text says.
func placeOf(path string) (folder, name string) {
	i := strings.LastIndexByte(path, '/') + 1
	if i == 0 {
		return ".", path
	}
	return path[:i], path[i:]
}
