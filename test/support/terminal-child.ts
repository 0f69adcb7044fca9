/**
 * What tmux starts: it runs the program and outlives it. Of a process that it started itself tmux may drop the last
 * output, and the signal that ended it. Words: the folder with the file `program`, in which it leaves `pid`.
 */
import { spawn } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './terminal.ts';

const folder = process.argv[2] ?? '';
const { command, cwd, env } = JSON.parse(readFileSync(join(folder, 'program'), 'utf8')) as Program;
const [file = '', ...words] = command;

// What the terminal sends to everybody in its foreground is for the program to answer.
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTSTP'] as const) process.on(signal, () => {});
// Until the terminal is closed.
setInterval(() => {}, 60_000);

/** The title comes after all output of the program, so whoever reads it knows that the screen is the last one. */
const end = (status: number | null): void => void writeSync(1, `\x1b]2;program ended: ${status}\x1b\\`);

const child = spawn(file, words, { cwd, env, stdio: 'inherit' });
child.on('exit', end);
child.on('error', (error) => {
  writeSync(2, `${error.message}\n`);
  end(127);
});
child.on('spawn', () => {
  writeFileSync(join(folder, 'pid.new'), String(child.pid));
  renameSync(join(folder, 'pid.new'), join(folder, 'pid'));
});
