package wire

// The bounds of every parser of the system stand here together (WIRE.md §1 to §5, §9).
const (
	MaxFileBytes     = 64 << 20  // a JSON file
	MaxTOMLBytes     = 1 << 20   // a TOML file
	MaxJSONDepth     = 16        // levels of objects and arrays
	MaxArrayElements = MaxLeaves // of any JSON file but a scope file: no list names more than a batch can hold
	MaxInteger       = 1<<53 - 1 // an integer in JSON
	MaxIDBytes       = 128       // batch id, command id, node id
	MaxKindBytes     = 64
	MaxSubjectBytes  = 512
	MaxDNSNameBytes  = 253
	MaxDomainBytes   = 255    // trust domain
	MaxReasonUnits   = 500    // UTF-16 units
	MaxTextUnits     = 256    // UTF-16 units of the other free texts
	MaxLeaves        = 50_000 // in one batch
	MaxPayloadBytes  = 65_536 // in one leaf
	MaxBatchBytes    = 8_388_608
	MaxSignatures    = 64 // of one approval; approvals and signatures of one scope file
	MaxKeys          = 64 // of one approver set
	MaxTiers         = 64
	MaxWindowHours   = 720     // that any approval may stay open
	MaxPayloadLevels = 32      // nested messages of a payload
	MaxPayloadJSON   = 1 << 20 // the protobuf JSON of one payload
)
