import type { ChildProcess } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { CommitLinks, Git } from './git.ts';
import { signFile } from './kept-records.ts';
import { isObjectId } from './refs.ts';

/** Reads commits with one git process for each repository, which waits for the next question for a while. */
export interface CommitReader {
  readCommit: Git['readCommit'];
  /** Ends the processes. */
  close(): void;
}

/** How long a process waits for the next question; one takes a few megabytes of memory. */
const IDLE_MS = 60_000;
/** How long an answer may take. */
const ANSWER_MS = 5000;

/** @param open starts `git cat-file --batch` in a repository's git folder; null if that is not possible */
export function createCommitReader(
  open: (commonDir: string) => Promise<ChildProcess | null>,
  { idleMs = IDLE_MS }: { idleMs?: number } = {},
): CommitReader {
  const batches = new Map<string, { signature: string; batch: Promise<CommitBatch | null> }>();

  function findBatch(commonDir: string): Promise<CommitBatch | null> {
    const signature = signRepository(commonDir);
    const known = batches.get(commonDir);
    if (known?.signature === signature) return known.batch;
    const forget = (): void => {
      if (batches.get(commonDir) === entry) batches.delete(commonDir);
    };
    const batch = open(commonDir).then(
      (child) => child && createBatch(child, { idleMs, onEnd: forget }),
      () => null,
    );
    const entry = { signature, batch };
    batches.set(commonDir, entry);
    void batch.then((opened) => opened ?? forget());
    if (known !== undefined) void known.batch.then((outdated) => outdated?.end());
    return batch;
  }

  return {
    async readCommit(commonDir, id) {
      if (!isObjectId(id)) return null;
      const answer = await (await findBatch(commonDir))?.ask(id);
      return answer == null ? null : parseCommit(answer);
    },
    close() {
      for (const { batch } of batches.values()) void batch.then((each) => each?.end());
    },
  };
}

/** Changes when another repository takes the place of one, or when it reads objects elsewhere. */
function signRepository(commonDir: string): string {
  const folders = [commonDir, join(commonDir, 'objects')].map((folder) => {
    const found = statSync(folder, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? '' : `${found.dev}.${found.ino}.${found.birthtimeNs}`;
  });
  const files = ['config', join('objects', 'info', 'alternates')].map((name) =>
    signFile(join(commonDir, name)),
  );
  return [...folders, ...files].join(' ');
}

function parseCommit(text: string): CommitLinks | null {
  const [head = ''] = text.split('\n\n', 1);
  const tree = /^tree ([0-9a-f]+)$/m.exec(head)?.[1];
  const parents = [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id]) => id!);
  return tree === undefined ? null : { tree, parents };
}

/** One process that answers questions in their order. */
interface CommitBatch {
  /** Returns the text of a commit; null if it is missing, no commit, or if the process has ended. */
  ask(id: string): Promise<string | null>;
  end(): void;
}

function createBatch(
  child: ChildProcess,
  { idleMs, onEnd }: { idleMs: number; onEnd: () => void },
): CommitBatch {
  const waiting: ((answer: string | null) => void)[] = [];
  let received = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;

  /** Its standard input is closed too, so it also ends by itself, as it does after the engine. */
  function end(): void {
    if (hasEnded) return;
    hasEnded = true;
    clearTimeout(timer);
    onEnd();
    child.kill('SIGKILL');
    for (const answer of waiting.splice(0)) answer(null);
  }

  /** Limits the next wait: for an answer, or for the next question, during which this process may end. */
  function beginWait(): void {
    clearTimeout(timer);
    const isAsked = waiting.length > 0;
    timer = setTimeout(end, isAsked ? ANSWER_MS : idleMs);
    timer.unref();
    for (const handle of [child, ...child.stdio] as { ref(): void; unref(): void }[])
      if (isAsked) handle.ref();
      else handle.unref();
  }

  child.stdout?.on('data', (part: Buffer) => {
    received = Buffer.concat([received, part]);
    for (let read = readAnswer(received); read !== null; read = readAnswer(received)) {
      received = received.subarray(read.length);
      waiting.shift()?.(read.text);
    }
    beginWait();
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', end);
  child.on('error', end);
  child.on('close', end);
  beginWait();
  return {
    ask(id) {
      if (hasEnded) return Promise.resolve(null);
      return new Promise((resolve) => {
        waiting.push(resolve);
        child.stdin?.write(`${id}\n`);
        beginWait();
      });
    },
    end,
  };
}

/** Reads the first answer of `git cat-file --batch`; null while it is not complete. The text is null if it is not a commit. */
function readAnswer(bytes: Buffer): { text: string | null; length: number } | null {
  const line = bytes.indexOf(0x0a);
  if (line === -1) return null;
  const [, type, size] = /^[0-9a-f]+ (\w+) (\d+)$/.exec(bytes.toString('latin1', 0, line)) ?? [];
  if (type === undefined) return { text: null, length: line + 1 };
  const length = line + 1 + Number(size) + 1;
  if (bytes.length < length) return null;
  return { text: type === 'commit' ? bytes.toString('utf8', line + 1, length - 1) : null, length };
}
