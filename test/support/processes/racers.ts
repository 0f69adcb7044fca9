import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settled } from '../wait.ts';
import type { Ran } from '../workspaces/command-line.ts';
import type { TestWorkspace } from '../workspaces/workspace.ts';

/** The command line to run once its gate, a named pipe, has no more writers. */
export interface RacerOrder {
  args: readonly string[];
  gate: string;
  cwd: string;
}
/** Messages of a racer: it is ready, it waits at the gate, or the output of its command line. */
export type RacerWord = 'ready' | Pick<Ran, 'code' | 'stdout' | 'stderr'>;

/** Processes that start once and then race command lines of svc against each other. */
export interface Racers {
  /** Makes each process run its command line, all at the same moment. */
  race(lineOf: (index: number) => readonly string[]): Promise<Ran[]>;
  close(): Promise<void>;
}

const CHILD = fileURLToPath(new URL('racer-child.js', import.meta.url));

async function hear(child: ChildProcess): Promise<RacerWord> {
  const [word] = await settled(once(child, 'message'), `racer ${child.pid}`);
  return word as RacerWord;
}

/** Starts this many processes in a workspace. */
export async function startRacers(ws: TestWorkspace, count: number): Promise<Racers> {
  const children = Array.from({ length: count }, () =>
    fork(CHILD, { env: ws.env, cwd: ws.root, execPath: process.execPath }),
  );
  await Promise.all(children.map(hear));
  const gate = join(ws.repository.folder, 'gate');
  return {
    async race(lineOf) {
      execFileSync('mkfifo', [gate]);
      // Opened for reading and writing: opening it for writing alone would block until there is a reader.
      const held = openSync(gate, constants.O_RDWR);
      const atGate = children.map(hear);
      for (const [index, child] of children.entries())
        child.send({ args: lineOf(index), gate, cwd: ws.root } satisfies RacerOrder);
      await Promise.all(atGate);
      const ran = children.map(hear);
      closeSync(held);
      const words = await Promise.all(ran);
      rmSync(gate);
      return words.map((word) => {
        if (word === 'ready') throw new Error('a racer said that it is ready twice');
        return { ...word, json: () => JSON.parse(word.stdout) };
      });
    },
    async close() {
      const gone = children.map((child) => once(child, 'exit'));
      for (const child of children) child.disconnect();
      await Promise.all(gone);
    },
  };
}
