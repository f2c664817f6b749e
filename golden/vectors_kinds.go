package golden

// A PayloadJSON is protobuf JSON of a kind's message, and the canonical encoding of it, the entries of maps in the order of
// their keys (WIRE.md §7).
type PayloadJSON struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // built in, or that of Payloads().Rich
	JSON  string `json:"json"`
	Value string `json:"value"` // base64
	Outcome
}

// PayloadJSONs gives payloads as JSON.
func PayloadJSONs() []PayloadJSON { return load[[]PayloadJSON]("payload-json.json") }

// A KindsTable is an installation's table of kinds with the descriptor set that it names (WIRE.md §7).
type KindsTable struct {
	Name          string   `json:"name"`
	Table         string   `json:"table"`         // TOML
	DescriptorSet string   `json:"descriptorSet"` // base64
	Kinds         []string `json:"kinds"`         // those it adds to the built-in ones
	Outcome
}

// KindsTables gives tables of kinds.
func KindsTables() []KindsTable { return load[[]KindsTable]("kinds.json") }
