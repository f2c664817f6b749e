// node proof.mjs PROOF.json PROOF.binpb APPROVAL.json
//
// Verifies an inclusion proof on node:crypto alone, sharing nothing with the Go code: hashes the leaf's fields and walks
// from it to the root of the approval (RFC 9162, 2.1.3.2), whose size it takes too; the message of the protobuf form must
// say the same. Prints "ok <index>" and ends with 0, else prints why and ends with 1. That the approval holds is not
// looked at here.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
const lp = (x) => { const n = Buffer.alloc(4); n.writeUInt32BE(Buffer.from(x).length); return Buffer.concat([n, Buffer.from(x)]); };

function check(holds, why) {
  if (!holds) throw new Error(why);
}

// walk gives the root that siblings lead to from a leaf at an index of a tree of that size.
function walk(leaf, index, size, siblings) {
  check(Number.isSafeInteger(index) && index >= 0 && index < size, 'the index is not below the size');
  let [node, position, rest] = [leaf, index, [...siblings]];
  for (let last = size - 1; last > 0; position = Math.floor(position / 2), last = Math.floor(last / 2)) {
    if (position % 2 === 0 && position === last) continue; // promoted
    const sibling = rest.shift();
    check(sibling?.length === 32, 'a sibling is missing');
    node = position % 2 === 1 ? sha256(Buffer.from([1]), sibling, node) : sha256(Buffer.from([1]), node, sibling);
  }
  check(rest.length === 0, 'there are siblings too many');
  return node;
}

// message reads BatchProof { uint32 index = 1; repeated bytes siblings = 2; }.
function message(b) {
  const proof = { index: 0, siblings: [] };
  let at = 0;
  const varint = () => {
    let n = 0;
    for (let shift = 1; ; shift *= 128) {
      check(at < b.length, 'the message is cut off');
      const c = b[at++];
      n += (c & 127) * shift;
      if (c < 128) return n;
    }
  };
  while (at < b.length) {
    const tag = varint();
    check(tag === 8 || tag === 18, 'a field that is none of the message');
    const n = varint();
    if (tag === 8) {
      proof.index = n;
    } else {
      proof.siblings.push(b.subarray(at, (at += n)).toString('hex'));
    }
  }
  return proof;
}

function main(jsonPath, binpbPath, approvalPath) {
  const proof = JSON.parse(readFileSync(jsonPath, 'utf8'));
  const approval = JSON.parse(readFileSync(approvalPath, 'utf8'));
  check(proof.format === 'better-compute-batch-proof' && proof.version === 1, 'not a proof of version 1');
  check(proof.batchId === approval.batchId, 'the proof is for another batch');
  const fields = [proof.batchId, proof.subject, proof.kind, Buffer.from(proof.payloadSha256, 'hex')];
  const leaf = sha256(Buffer.from([0]), ...fields.map(lp));
  const inBinary = message(readFileSync(binpbPath));
  for (const { index, siblings } of [proof, inBinary]) {
    const root = walk(leaf, index, approval.scopeSize, siblings.map((s) => Buffer.from(s, 'hex')));
    check(root.toString('hex') === approval.scopeRoot, 'the proof leads to another root');
  }
  console.log(`ok ${proof.index}`);
}

try {
  check(process.argv.length === 5, 'usage: node proof.mjs PROOF.json PROOF.binpb APPROVAL.json');
  main(...process.argv.slice(2));
} catch (e) {
  console.log(e.message);
  process.exitCode = 1;
}
