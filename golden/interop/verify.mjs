// node verify.mjs SCOPE.json SIG.json PUB.pem
//
// Verifies a batch signature on node:crypto alone, sharing nothing with the Go code: recomputes the root from the leaves
// of the scope (a scope file or a bare array of leaves), builds the signing input and verifies r || s with the public key.
// Prints "ok <kid>" and ends with 0, else prints why and ends with 1. It proves that the signature is of exactly these
// leaves; it is no strict reader and judges neither payloads nor the clock.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32BE(n); return b; };
const u64 = (n) => { const b = Buffer.alloc(8); b.writeBigUInt64BE(BigInt(n)); return b; };
const lp = (x) => { const b = Buffer.from(x); return Buffer.concat([u32(b.length), b]); };

function check(holds, why) {
  if (!holds) throw new Error(why);
}

// decode takes canonical text only: what does not encode back to itself is refused.
function decode(text, encoding, what) {
  const b = Buffer.from(text, encoding);
  check(b.toString(encoding) === text, `${what} is not canonical ${encoding}`);
  return b;
}

// digest is what a leaf binds: 32 bytes, or none for a leaf that admits any payload.
function digest(leaf, i) {
  const given = leaf.payloadSha256 ?? null;
  if (leaf.payload == null) return decode(given ?? '', 'hex', `digest of leaf ${i}`);
  const d = sha256(decode(leaf.payload.value, 'base64', `payload of leaf ${i}`));
  check(given === null || given === d.toString('hex'), `leaf ${i}: the payload does not have the digest given`);
  return d;
}

function root(batchId, leaves) {
  check(leaves.length > 0, 'the scope has no leaves');
  let level = leaves.map((l, i) => {
    const d = digest(l, i);
    check(d.length === 0 || d.length === 32, `leaf ${i}: the digest is not 32 bytes`);
    return sha256(Buffer.from([0]), lp(batchId), lp(l.subject), lp(l.kind), lp(d));
  }).sort(Buffer.compare);
  level.forEach((h, i) => check(i === 0 || !h.equals(level[i - 1]), 'a leaf is there twice'));
  while (level.length > 1) {
    const next = [];
    for (let i = 0; i < level.length; i += 2) {
      next.push(i + 1 < level.length ? sha256(Buffer.from([1]), level[i], level[i + 1]) : level[i]);
    }
    level = next;
  }
  return level[0];
}

function publicKey(path) {
  const key = createPublicKey(readFileSync(path));
  const spki = key.export({ type: 'spki', format: 'der' });
  check(key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails.namedCurve === 'prime256v1' && spki.length === 91,
    'the public key is not on P-256');
  return { key, kid: sha256(spki).toString('base64url') };
}

function main(scopePath, sigPath, pubPath) {
  const parsed = JSON.parse(readFileSync(scopePath, 'utf8'));
  const sig = JSON.parse(readFileSync(sigPath, 'utf8'));
  const scope = Array.isArray(parsed) ? { leaves: parsed } : parsed;
  const { key, kid } = publicKey(pubPath);
  check(sig.format === 'better-compute-batch-signature' && sig.version === 1, 'not a batch signature of version 1');
  check(Array.isArray(parsed) || scope.format === 'better-compute-batch-scope' && scope.version === 1, 'not a batch scope of version 1');
  check(sig.kid === kid, `the signature is of key ${sig.kid}, the public key is ${kid}`);
  const computed = root(sig.batchId, scope.leaves);
  const found = { scopeRoot: computed.toString('hex'), scopeSize: scope.leaves.length };
  for (const name of ['batchId', 'scopeRoot', 'scopeSize', 'notAfter', 'trustDomain']) {
    check(scope[name] == null || scope[name] === sig[name], `${name}: the scope has ${scope[name]}, the signature ${sig[name]}`);
    check(!(name in found) || found[name] === sig[name], `${name}: the leaves give ${found[name]}, the signature has ${sig[name]}`);
  }
  const parts = [sig.batchId, computed, u64(scope.leaves.length), u64(sig.notAfter), sig.trustDomain];
  const input = Buffer.concat(['better-compute/v1', 'batch-approval', ...parts].map(lp));
  const rs = decode(sig.sig, 'base64url', 'sig');
  check(rs.length === 64 && verify('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, rs), 'the signature does not verify');
  console.log(`ok ${kid}`);
}

try {
  check(process.argv.length === 5, 'usage: node verify.mjs SCOPE.json SIG.json PUB.pem');
  main(...process.argv.slice(2));
} catch (e) {
  console.log(e.message);
  process.exitCode = 1;
}
