// Package docs holds the documentation, and the tests that keep it true: every command in it is run (docs_test.go), its
// tables are those of the code (tables_test.go), and the rooms of the module keep their walls (architecture_test.go).
package docs
