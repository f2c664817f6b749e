// Verifies an export of a ledger on standard input, from docs/formats/ledger.md alone, and prints the count and the head.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const sha256 = (...parts) => parts.reduce((h, p) => h.update(p), createHash('sha256')).digest();
const lp = (b) => {
  const n = Buffer.alloc(4);
  n.writeUInt32BE(b.length);
  return Buffer.concat([n, b]);
};
const refuse = (why) => {
  console.error(why);
  process.exit(1);
};

const lines = readFileSync(0, 'utf8').split('\n');
if (lines.pop() !== '') refuse('the last line does not end');
if (lines.shift() !== '{"format":"better-compute-approver-ledger","version":1}') refuse('no export');

const context = lp(Buffer.from('better-compute/approver-ledger/v1'));
let head = Buffer.alloc(32);
lines.forEach((line, i) => {
  const record = JSON.parse(line);
  if (JSON.stringify(record) !== line) refuse(`record ${i + 1} is not in its one form`);
  if (record.version !== 1 || record.seq !== i + 1) refuse(`record ${i + 1} is not in its place`);
  if (record.previous !== head.toString('hex')) refuse(`record ${i + 1} does not follow the one before`);
  const settings = sha256(Buffer.from(JSON.stringify(record.policy.settings))).toString('hex');
  if (record.policy.sha256 !== settings) refuse(`record ${i + 1} has another policy`);
  head = sha256(context, head, lp(Buffer.from(line)));
});
console.log(`${lines.length} ${head.toString('hex')}`);
