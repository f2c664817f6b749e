package golden

import "path"

// Independent gives a file of the folder independent, such as "batch-scope.json" or "scopes/ok-2.json"; its README.md says
// what they hold. It panics where there is none.
func Independent(name string) []byte {
	data, err := files.ReadFile(path.Join("independent", name))
	if err != nil {
		panic("golden: " + err.Error())
	}
	return data
}

// A Case is a scope file and how approver batch sign --scope FILE --key KEY --yes ends on it.
type Case struct {
	File   string `json:"file"`
	Exit   int    `json:"exit"`
	Code   string `json:"code"`
	Reason string `json:"reason"` // or empty, and then not to be compared
	Note   string `json:"note"`
}

// Content gives the scope file.
func (c Case) Content() []byte { return Independent("scopes/" + c.File) }

type caseFile struct {
	Now   uint64 `json:"now"`
	Run   string `json:"run"`
	Cases []Case `json:"cases"`
}

// Cases gives the independent scope files, and the clock they are for in Unix milliseconds.
func Cases() (now uint64, cases []Case) {
	f := load[caseFile]("independent/scopes.json")
	return f.Now, f.Cases
}
