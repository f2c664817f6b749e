package review

// A Document is what a person sees of one thing to sign, whatever its format: a batch scope, an approver-set change, an
// operations command. It is made once, and drawn from then on, never changed. Texts from outside are escaped when they
// come in; plain strings are the program's own words.
type Document struct {
	What       string      // lower case, with which a sentence goes on: "batch scope"
	Facts      []Fact      // in the order of reading
	Root       []byte      // the 32 bytes that approvers compare by voice
	Size       int         // operations that are signed, one per subject: the leaves of a scope; at least 1
	Tallies    []Tally     // counts that add up the operations
	Operations []Operation // every distinct operation; their subjects are Size in all
	Findings   []Finding   // in the order of the checks
	Escapes    int         // escapes in all texts of the document, those in lazy fields included
}

// A Fact is a line above the operations: the batch id, the window, who proposed it.
type Fact struct {
	Key   string // of the JSON form, as in "proposedBy"; may be empty
	Name  string
	Value []Text // lines; none draws as "none"
	Note  string // where the value comes from or what it is worth, as in "claimed"; may be empty
}

// A Tally counts the operations by one property, such as kind or site agent.
type Tally struct {
	Title string
	Rows  []Count
}

// A Count is a row of a Tally.
type Count struct {
	Name        Text
	N           int
	Destructive bool
}

// An Operation is one thing done alike to one or more subjects.
type Operation struct {
	Title       Text     // what is done: the kind
	Type        Text     // the type its fields are of; may be empty
	Digest      string   // 64 hex of the payload where all subjects share it, else ""
	Marks       []string // "any payload", "opaque", "runs as root"
	Destructive bool
	Outlier     bool   // few subjects of the kind have it, or a field of it: drawn first, and whole
	Subjects    []Text // all of them, at least one

	fields func() []Field
}

// SetFields sets how the fields are made when they are asked for: 50,000 payloads are not decoded to draw ten. An
// operation without it has no fields to show, as one that is opaque or unbound.
func (o *Operation) SetFields(fields func() []Field) { o.fields = fields }

// Fields gives the fields of the operation, defaults included, in the order of the format; nil where there are none. Every
// call decodes again.
func (o *Operation) Fields() []Field {
	if o.fields == nil {
		return nil
	}
	return o.fields()
}

// A Field is one value of an operation, or a group of fields: a message, a list, a map.
type Field struct {
	Name    Text
	Type    string  // as the format declares it: "string", "uint32", "message NetworkConfig"
	Default bool    // not in the payload: what a machine takes when nothing is said
	Odd     bool    // differs from what most subjects of the kind have
	Usual   []Text  // what most have, when Odd
	Value   []Text  // lines; several for a script; none for a group
	Fields  []Field // of a group
}
