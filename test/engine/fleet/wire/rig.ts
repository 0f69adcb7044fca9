import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterEach } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  joinStreams,
  type Link,
  type LinkHandlers,
  type LinkOptions,
  openLink,
} from '../../../../engine/fleet/wire/index.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { HELLO, makePeer } from './peer.ts';

const CHILD = fileURLToPath(new URL('./peer-child.js', import.meta.url));

const open: { destroy(): void }[] = [];
const children: ChildProcess[] = [];

/** Ends the processes and connections of each test; called once by each file. */
export function cleanUpLinks(): void {
  afterEach(async () => {
    for (const each of open.splice(0)) each.destroy();
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
    folder = null;
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  });
}

/** Starts another process, and links to it over its stdin and stdout. */
export async function linkToProcess(
  options: { ours?: LinkOptions; theirs?: LinkOptions; handlers?: LinkHandlers } = {},
): Promise<{ link: Link; child: ChildProcess }> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(options.theirs ?? {})], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const link = await openLink(
    joinStreams(child.stdout, child.stdin),
    HELLO,
    options.handlers ?? makePeer().handlers,
    options.ours,
  );
  return { link, child };
}

/** Of the sockets of one test. */
let folder: string | null = null;
let sockets = 0;

/** Connects two sockets. */
export async function makeSockets(): Promise<[Socket, Socket]> {
  folder ??= temporaryFolder('svc-wire-');
  sockets += 1;
  const server = createServer({ allowHalfOpen: true }).listen(join(folder, `${process.pid}-${sockets}.sock`));
  await once(server, 'listening');
  const near = connect({ path: server.address() as string, allowHalfOpen: true });
  const [[far]] = await Promise.all([once(server, 'connection'), once(near, 'connect')]);
  server.close();
  open.push(near, far);
  return [near, far as Socket];
}

/** Links the two ends of a pair of sockets in this process. */
export async function linkSockets(options: LinkOptions = {}) {
  const [near, far] = await makeSockets();
  const peer = makePeer();
  const own = makePeer();
  const [link, other] = await Promise.all([
    openLink(near, HELLO, own.handlers, options),
    openLink(far, HELLO, peer.handlers, options),
  ]);
  return { link, other, peer, own, connection: near };
}

/** Writes one frame as the protocol describes it, independently of the implementation. */
export function writeFrame(kind: number, number: number, payload: string | Buffer | object): Buffer {
  const body =
    Buffer.isBuffer(payload) || typeof payload === 'string'
      ? Buffer.from(payload)
      : Buffer.from(JSON.stringify(payload));
  const header = Buffer.alloc(9);
  header.writeUInt32BE(body.length + 5, 0);
  header[4] = kind;
  header.writeUInt32BE(number, 5);
  return Buffer.concat([header, body]);
}

export const KIND = {
  hello: 1,
  alive: 2,
  part: 3,
  call: 16,
  cancel: 17,
  report: 18,
  answer: 19,
  failure: 20,
  notice: 21,
  open: 32,
  opened: 33,
  refused: 34,
  bytes: 35,
  end: 36,
  credit: 37,
  reset: 38,
} as const;

export const HELLO_FRAME = writeFrame(KIND.hello, 0, HELLO);

/** Links to an end that a test plays byte by byte. */
export async function linkToBytes(options: LinkOptions = {}, handlers = makePeer().handlers) {
  const [near, far] = await makeSockets();
  const opening = openLink(near, HELLO, handlers, options);
  far.write(HELLO_FRAME);
  const link = await opening;
  return { link, far, near };
}

/** Collects the frames that arrive. */
export function collectFrames(from: Duplex) {
  const frames: { kind: number; number: number; payload: Buffer }[] = [];
  let rest = Buffer.alloc(0);
  from.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE(0)) {
      const end = 4 + rest.readUInt32BE(0);
      frames.push({ kind: rest[4] ?? 0, number: rest.readUInt32BE(5), payload: rest.subarray(9, end) });
      rest = rest.subarray(end);
    }
  });
  return frames;
}
