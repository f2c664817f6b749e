package ledger

// NewRecord gives the record of an entry as the first of a chain.
var NewRecord = newRecord
