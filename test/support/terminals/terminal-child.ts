/**
 * The program that tmux starts: it runs the real program and outlives it. tmux may lose the last output, and the
 * signal, of a program that it starts itself. Argument: the folder that contains the file `program`; `pid` is written
 * there.
 */
import { spawn } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './terminal.ts';

const folder = process.argv[2] ?? '';
const { command, cwd, env } = JSON.parse(readFileSync(join(folder, 'program'), 'utf8')) as Program;
const [file = '', ...words] = command;

// Signals to the foreground group are for the program to handle.
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTSTP'] as const) process.on(signal, () => {});
// Waits until the terminal is closed.
setInterval(() => {}, 60_000);

/** The title follows all output of the program, so the screen that is read after it is the last one. */
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
