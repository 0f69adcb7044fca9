import { hash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

/** A commit on top of another one that leaves one file, and the pack that has it: cheaper than git by a process. */
export interface SmallCommit {
  id: string;
  pack: Buffer;
}

const TYPES = { commit: 1, tree: 2, blob: 3 } as const;
const PERSON = 'Test Machine <machine@example.test> 1700000000 +0000';

function nameObject(type: keyof typeof TYPES, content: Buffer): string {
  return hash('sha1', Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]), 'hex');
}

/** Writes an object of a pack: its type and length, seven bits a byte after the first four, and its content. */
function packObject(type: keyof typeof TYPES, content: Buffer): Buffer {
  const header: number[] = [];
  let left = content.length >> 4;
  let byte = (TYPES[type] << 4) | (content.length & 15);
  for (; left > 0; left >>= 7) {
    header.push(byte | 0x80);
    byte = left & 0x7f;
  }
  return Buffer.concat([Buffer.of(...header, byte), deflateSync(content)]);
}

/** Writes the commit that leaves a file `result.txt` with this text. The same input gives the same commit. */
export function writeSmallCommit(parent: string, text: string): SmallCommit {
  const blob = Buffer.from(text);
  const entry = Buffer.concat([
    Buffer.from('100644 result.txt\0'),
    Buffer.from(nameObject('blob', blob), 'hex'),
  ]);
  const tree = nameObject('tree', entry);
  const lines = [`tree ${tree}`, `parent ${parent}`, `author ${PERSON}`, `committer ${PERSON}`, '', text];
  const commit = Buffer.from(lines.join('\n'));
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(3, 8);
  const body = Buffer.concat([
    head,
    packObject('commit', commit),
    packObject('tree', entry),
    packObject('blob', blob),
  ]);
  return {
    id: nameObject('commit', commit),
    pack: Buffer.concat([body, Buffer.from(hash('sha1', body, 'hex'), 'hex')]),
  };
}
