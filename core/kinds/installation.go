package kinds

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	// The messages of google.protobuf that JSON writes in a form of their own, to hold a set's against.
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/better-compute/approver/core/wire"
)

const (
	maxReachable = 4096 // messages that the kinds of an installation reach together

	// maxFields bounds what a payload is drawn as: it may hold 32,768 empty messages, and all fields of each are shown.
	maxFields = 256 // of one message
)

// ownPackages are those whose messages a descriptor set may repeat, and not define anew.
var ownPackages = []string{"bettercompute.v1.", "google.protobuf."}

// Table gives the built-in kinds and, after them, those of the file, with their messages from a FileDescriptorSet of at
// most 8 MiB. Kinds of an installation have node ids for subjects, and run on nodes and ramdisks. Everything a kind reaches
// must be what Walk can accept and a person can be shown: proto3, in a package, no google.protobuf.Any, no extension,
// no enum with two names for a value; messages of bettercompute.v1 and google.protobuf as they are here. The error is
// INVALID_CONFIG.
func (f *TableFile) Table(descriptorSet []byte) (*Table, error) {
	files, err := linkDescriptors(descriptorSet)
	if err != nil {
		return nil, err
	}
	if err := checkOwnPackage(files); err != nil {
		return nil, err
	}
	var rows []row
	reached := make(map[protoreflect.FullName]bool)
	for _, d := range f.kinds {
		found, err := files.FindDescriptorByName(d.message)
		md, ok := found.(protoreflect.MessageDescriptor)
		if err != nil || !ok || md.IsMapEntry() {
			return nil, refuseKey(d.at+".message", d.line, "the message %s of %s is not in the descriptor set", d.message, d.name)
		}
		if err := checkReachable(md, reached); err != nil {
			return nil, refuseKey(d.at+".message", d.line, "kind %s: %w", d.name, err)
		}
		rows = append(rows, row{name: d.name, message: md, destructive: d.destructive, roles: []Role{RoleNode, RoleRamdisk}, form: wire.SubjectNode})
	}
	own, err := newTable(rows)
	if err != nil {
		return nil, err
	}
	set := sha256.Sum256(descriptorSet)
	for _, k := range own.kinds {
		k.set = set[:]
	}
	return Builtin().with(own.kinds), nil
}

// with gives a table of the kinds of t and others, whose names t does not have.
func (t *Table) with(others []*Kind) *Table {
	both := &Table{kinds: slices.Concat(t.kinds, others), byName: make(map[string]*Kind, len(t.kinds)+len(others))}
	for _, k := range both.kinds {
		both.byName[k.name] = k
	}
	return both
}

// Builtin tells whether the kind is one of WIRE.md §7 rather than an installation's own.
func (k *Kind) Builtin() bool { return Builtin().byName[k.name] == k }

// checkReachable checks what a payload of a message may hold. reached collects what all kinds hold.
func checkReachable(md protoreflect.MessageDescriptor, reached map[protoreflect.FullName]bool) error {
	return reach(md, func(md protoreflect.MessageDescriptor) error {
		if reached[md.FullName()] = true; len(reached) > maxReachable {
			return fmt.Errorf("the kinds reach more than %d messages", maxReachable)
		}
		if n := md.Fields().Len(); n > maxFields {
			return fmt.Errorf("the message %s has %d fields; at most %d can be shown", md.FullName(), n, maxFields)
		}
		if err := checkDeclaration(md); err != nil {
			return err
		}
		for _, fd := range fieldsOf(md) {
			if err := checkField(fd); err != nil {
				return err
			}
		}
		return checkJSONNames(md)
	}, func(ed protoreflect.EnumDescriptor) error {
		if err := checkDeclaration(ed); err != nil {
			return err
		}
		return checkEnum(ed)
	})
}

// checkDeclaration checks where a message or enum is declared.
func checkDeclaration(d protoreflect.Descriptor) error {
	if err := checkNotAny(d); err != nil {
		return err
	}
	if err := checkProto3(d); err != nil {
		return err
	}
	if d.ParentFile().Package() == "" {
		return fmt.Errorf("%s is in no package, so it could be taken for one of bettercompute.v1", d.FullName())
	}
	for _, own := range ownPackages {
		if strings.HasPrefix(string(d.FullName()), own) {
			return checkOwn(d)
		}
	}
	return nil
}

// checkField checks what no proto3 file of protoc has, and the linker lets through. Groups, extensions, required fields,
// defaults, closed enums and enums without a zero it refuses in a proto3 file itself.
func checkField(fd protoreflect.FieldDescriptor) error {
	for d := protoreflect.Descriptor(fd); d != nil; d = d.Parent() {
		options, ok := d.Options().(interface {
			GetFeatures() *descriptorpb.FeatureSet
		})
		if ok && options.GetFeatures() != nil {
			return fmt.Errorf("the field %s has features of its own, which proto3 does not have", fd.FullName())
		}
	}
	if fd.HasOptionalKeyword() && fd.ContainingOneof() == nil {
		return fmt.Errorf("the field %s is optional and in no oneof of its own, so nothing tells it absent from empty", fd.FullName())
	}
	return nil
}

// checkJSONNames wants each name that JSON may give a field, its own or its JSON name, to lead to that field alone: leaves
// that say "wipe" must not fill in what the message calls dry_run.
func checkJSONNames(md protoreflect.MessageDescriptor) error {
	taken := make(map[string]protoreflect.Name)
	for _, fd := range fieldsOf(md) {
		taken[string(fd.Name())] = fd.Name()
	}
	for _, fd := range fieldsOf(md) {
		if other, ok := taken[fd.JSONName()]; ok && other != fd.Name() {
			return fmt.Errorf("the field %s has the JSON name %.200q, by which %s goes", fd.FullName(), fd.JSONName(), other)
		}
		taken[fd.JSONName()] = fd.Name()
	}
	return nil
}

// checkEnum wants one name for each value, the one that a person is shown.
func checkEnum(ed protoreflect.EnumDescriptor) error {
	names := make(map[protoreflect.EnumNumber]protoreflect.Name)
	for i := range ed.Values().Len() {
		v := ed.Values().Get(i)
		if first, taken := names[v.Number()]; taken {
			return fmt.Errorf("the enum %s has two names for %d, %s and %s; a person would be shown one of them", ed.FullName(), v.Number(), first, v.Name())
		}
		names[v.Number()] = v.Name()
	}
	return nil
}

// checkOwnPackage checks every message and enum of a set's files of package bettercompute.v1.
func checkOwnPackage(files *protoregistry.Files) (err error) {
	files.RangeFilesByPackage("bettercompute.v1", func(fd protoreflect.FileDescriptor) bool {
		err = checkOwnMessages(fd.Messages(), fd.Enums())
		return err == nil
	})
	return err
}

func checkOwnMessages(messages protoreflect.MessageDescriptors, enums protoreflect.EnumDescriptors) error {
	for i := range enums.Len() {
		if err := checkOwn(enums.Get(i)); err != nil {
			return refuseSet("%w", err)
		}
	}
	for i := range messages.Len() {
		md := messages.Get(i)
		if err := checkOwn(md); err != nil {
			return refuseSet("%w", err)
		}
		if err := checkOwnMessages(md.Messages(), md.Enums()); err != nil {
			return err
		}
	}
	return nil
}

// checkOwn checks that a message or enum is declared as the one of that name in this program.
func checkOwn(d protoreflect.Descriptor) error {
	ours, err := protoregistry.GlobalFiles.FindDescriptorByName(d.FullName())
	if err != nil {
		return fmt.Errorf("it defines %s, and that package is not an installation's", d.FullName())
	}
	if !reflect.DeepEqual(declare(ours), declare(d)) {
		return fmt.Errorf("it defines %s otherwise than it is", d.FullName())
	}
	return nil
}

func declare(d protoreflect.Descriptor) any {
	switch d := d.(type) {
	case protoreflect.MessageDescriptor:
		return declareMessage(d)
	case protoreflect.EnumDescriptor:
		return declareEnum(d)
	}
	return nil
}
