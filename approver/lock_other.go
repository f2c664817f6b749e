//go:build !unix

package main

import (
	"context"
	"time"
)

func lockModule(context.Context, string, time.Duration) (func(), error) { return func() {}, nil }
