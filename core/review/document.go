package review

// A Document is what a person sees of one thing to sign, whatever its format: a batch scope, an approver-set change, an
// operations command. It is made once, and drawn from then on, never changed. Texts from outside are escaped when they
// come in; plain strings are the program's own words.
type Document struct {
	What       string      // lower case, with which a sentence goes on: "batch scope"
	Facts      []Fact      // in the order of reading
	Root       []byte      // the 32 bytes that approvers compare by voice
	RootOf     string      // what the root is the digest of, "the new set"; empty for the root of a batch's tree
	Size       int         // operations that are signed, one per subject: the leaves of a scope; at least 1
	Counts     Unit        // what Size counts
	Tallies    []Tally     // counts that add up the operations
	Operations []Operation // every distinct operation; their subjects are Size in all
	Summaries  []Summary   // of each kind with more than SummaryAbove operations
	Findings   []Finding   // in the order of the checks
	Escapes    int         // escapes in all texts of the document, those in lazy fields included

	declines bool // the statement is a decline: New says so, nobody else
}

// Declines tells whether what is signed says no to what is shown. No finding forbids that. Only a document of a Review
// knows.
func (d *Document) Declines() bool { return d.declines }

// RootName gives what Root is called: "root", or "digest" where it is the digest of one thing.
func (d *Document) RootName() string {
	if d.RootOf != "" {
		return "digest"
	}
	return "root"
}

// A Unit is what a document counts: what each subject of its operations is.
type Unit uint8

// The units. Of a change and of a part there is one subject each, which says what it is about: a key, a tier.
const (
	Operations Unit = iota
	Changes         // to what is in force
	Parts           // of what is signed, where nothing is known to be in force
)

// String gives the singular, as in "operation".
func (u Unit) String() string {
	switch u {
	case Operations:
		return "operation"
	case Changes:
		return "change"
	case Parts:
		return "part"
	}
	return "none"
}

// A Fact is a line above the operations: the batch id, the window, who proposed it.
type Fact struct {
	Key   string `json:"key,omitzero"` // of the JSON form, as in "proposedBy"; may be empty
	Name  string `json:"name"`
	Value []Text `json:"value,omitzero"` // lines; none draws as "none"
	Note  string `json:"note,omitzero"`  // where the value comes from or what it is worth, as in "claimed"; may be empty
}

// A Tally counts the operations by one property, such as kind or site agent.
type Tally struct {
	Title string  `json:"title"`
	Rows  []Count `json:"rows"`
}

// A Count is a row of a Tally.
type Count struct {
	Name        Text `json:"name"`
	N           int  `json:"n"`
	Destructive bool `json:"destructive,omitzero"`
}

// An Operation is one thing done alike to one or more subjects.
type Operation struct {
	Title       Text     // what is done: the kind
	Type        Text     // the type its fields are of; may be empty
	Digest      []byte   // the payload's SHA-256 where all subjects share it, else nil
	Marks       []string // "any payload", "opaque", "runs as root"
	Destructive bool
	Outlier     bool   // few subjects of the kind have it, or a field of it: drawn first, and whole
	Opaque      bool   // what it does cannot be shown: no summary and no sample stands for it
	Subjects    []Text // all of them, at least one

	fields func() []Field
}

// SetFields sets how the fields are made when they are asked for: 50,000 payloads are not decoded to draw ten. nil fields,
// or none set, say that what the operation does is not known; an empty slice says that it has no fields.
func (o *Operation) SetFields(fields func() []Field) { o.fields = fields }

// Fields gives the fields of the operation, defaults included, in the order of the format, or nil where they are not known,
// as of an operation that is opaque or unbound. Every call decodes again.
func (o *Operation) Fields() []Field {
	if o.fields == nil {
		return nil
	}
	return o.fields()
}

// A Field is one value of an operation, or a group of fields: a message, a list whose elements are named [0], [1] and so
// on, a map whose entries are named by their keys. The drawing puts quotes around a value whose type ends in "string"
// or "string>", and around a name that is not made as identifiers are; what the program says instead of a value is a Note.
type Field struct {
	Name    Text    `json:"name"`
	Type    string  `json:"type"`             // as the format declares it: "string", "uint32", "message NetworkConfig"
	Default bool    `json:"default,omitzero"` // not in the payload: what a machine takes when nothing is said
	Odd     bool    `json:"odd,omitzero"`     // differs from what most subjects of the kind have
	Usual   []Text  `json:"usual,omitzero"`   // what most have, when Odd
	Value   []Text  `json:"value,omitzero"`   // lines; several for a script; none for a group
	Note    string  `json:"note,omitzero"`    // beside or instead of a value, as in "not set" or "each subject's own"; may be empty
	Fields  []Field `json:"fields,omitzero"`  // of a group
}
