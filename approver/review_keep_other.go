//go:build !linux

package main

import (
	"os"

	"github.com/spf13/cobra"
)

// A keptTerminal is nothing here: the program puts the terminal back wherever it ends by itself.
type keptTerminal struct{}

func (*app) keepTerminal(*os.File) *keptTerminal { return nil }

func (*keptTerminal) release() {}

func keepCommand() *cobra.Command { return &cobra.Command{Use: "keep-terminal", Hidden: true} }
