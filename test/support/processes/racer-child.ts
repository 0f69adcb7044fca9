/** A process of test/support/racers.ts: runs each command line that it receives once its gate is closed. */
import { closeSync, openSync, readSync } from 'node:fs';
import { runHere } from '../workspaces/command-line.ts';
import type { RacerOrder, RacerWord } from './racers.ts';

const tell = (word: RacerWord): void => void process.send?.(word);

process.on('message', async ({ args, gate, cwd }: RacerOrder) => {
  const file = openSync(gate, 'r');
  tell('ready');
  // EOF reaches every process at the same moment, when the last writer closes the pipe.
  readSync(file, Buffer.alloc(1));
  closeSync(file);
  const { code, stdout, stderr } = await runHere(args, { cwd, env: process.env, input: '' });
  tell({ code, stdout, stderr });
});
tell('ready');
