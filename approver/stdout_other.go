//go:build !unix

package main

func (a *app) keepStdout() {}
