import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { gitEnvironment } from '../support/workspaces/git.ts';
import type { TerminalProgram } from './terminal.ts';

type Drawn = Pick<TerminalProgram, 'command' | 'env' | 'ready' | 'keys'>;

/** A comparable program that shows lists in a terminal. */
export interface Peer {
  name: string;
  /** Installation command. */
  install: string;
  /** Path of its program, or null if it is not installed. */
  find(): string | null;
  /** Writes its data to an empty folder: this many tasks, or its equivalent. */
  prepare(folder: string, count: number): void;
  draws(program: string, folder: string): Drawn;
  /** Creates a task from outside, for peers that watch theirs. */
  add?(folder: string, index: number, title: string): void;
}

/** `npm install --prefix <folder>` installs programs here. */
const FOLDER = process.env.SVC_BENCH_PEERS ?? '';

const inFolder = (...path: string[]): string | null => {
  const file = join(FOLDER, 'node_modules', ...path);
  return FOLDER !== '' && existsSync(file) ? file : null;
};

const onPath = (name: string): string | null =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file)) ?? null;

const title = (index: number): string => `task number ${index}`;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Blanks may be cursor moves, which are not text. */
const READY = /task\s*number\s*\d/;

/** A board of tasks in files with live changes: the same job for the same number of tasks. */
const backlog: Peer = {
  name: 'backlog board',
  install: 'npm install backlog.md',
  find: () => inFolder('.bin', 'backlog') ?? onPath('backlog'),
  prepare(folder, count) {
    mkdirSync(join(folder, 'backlog', 'tasks'), { recursive: true });
    execFileSync('git', ['init', '-q', folder], { env: gitEnvironment() });
    // Keeps it from asking git for tasks in other branches.
    const config = [
      'project_name: bench',
      'default_status: To Do',
      'statuses: ["To Do", "In Progress", "Done"]',
      'task_prefix: task',
      'remote_operations: false',
      'check_active_branches: false',
    ];
    writeFileSync(join(folder, 'backlog', 'config.yml'), `${config.join('\n')}\n`);
    for (const index of numbers(count)) writeTask(folder, index, title(index), 'To Do');
  },
  draws: (program, folder) => ({
    command: [program, 'board'],
    env: { HOME: folder },
    ready: READY,
    keys: ['j', 'k'],
  }),
  // The new task goes to the empty column, where it is visible.
  add: (folder, index, text) => writeTask(folder, 1_000_000 + index, text, 'In Progress'),
};

function writeTask(folder: string, index: number, text: string, status: string): void {
  const lines = [`id: TASK-${index}`, `title: ${text}`, `status: ${status}`, 'assignee: []', 'labels: []'];
  const file = join(folder, 'backlog', 'tasks', `task-${index} - ${text.replaceAll(' ', '-')}.md`);
  writeFileSync(
    file,
    `---\n${lines.join('\n')}\ncreated_date: '2026-01-01'\ndependencies: []\nordinal: ${index}\n---\n`,
  );
}

/** The dashboard of taskwarrior. */
const vit: Peer = {
  name: 'vit',
  install: 'apt-get install vit',
  find: () => (onPath('task') === null ? null : onPath('vit')),
  prepare(folder, count) {
    mkdirSync(join(folder, '.vit'));
    // Without the file it asks whether to create one.
    writeFileSync(join(folder, '.vit', 'config.ini'), '');
    writeFileSync(
      join(folder, '.taskrc'),
      `confirmation=no\nverbose=nothing\ndata.location=${folder}/tasks\n`,
    );
    execFileSync('task', ['import'], {
      env: { ...process.env, HOME: folder },
      input: JSON.stringify(
        numbers(count).map((index) => ({ description: title(index), status: 'pending' })),
      ),
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  },
  draws: (program, folder) => ({ command: [program], env: { HOME: folder }, ready: READY, keys: ['j', 'k'] }),
};

/** The commits of a repository; written in C, so it marks the minimal cost of a list in a terminal. */
const tig: Peer = {
  name: 'tig',
  install: 'apt-get install tig',
  find: () => onPath('tig'),
  prepare(folder, count) {
    execFileSync('git', ['init', '-q', '-b', 'main', folder], { env: gitEnvironment() });
    const commits = numbers(count).map((index) => {
      const subject = title(index);
      return `commit refs/heads/main\ncommitter A <a@b.test> ${1_700_000_000 + index} +0000\ndata ${subject.length}\n${subject}\n`;
    });
    execFileSync('git', ['-C', folder, 'fast-import', '--quiet'], {
      env: gitEnvironment(),
      input: commits.join(''),
    });
  },
  draws: (program, folder) => ({ command: [program], env: { HOME: folder }, ready: READY, keys: ['j', 'k'] }),
};

/** Agent sessions in worktrees, drawn with Ink like the dashboard. It has one worktree, regardless of the count. */
const ccmanager: Peer = {
  name: 'ccmanager',
  install: 'npm install ccmanager',
  find: () => inFolder('ccmanager', 'dist', 'cli.js'),
  prepare(folder) {
    execFileSync('git', ['init', '-q', '-b', 'main', folder], { env: gitEnvironment() });
    execFileSync('git', ['-C', folder, 'fast-import', '--quiet'], {
      env: gitEnvironment(),
      input: 'commit refs/heads/main\ncommitter A <a@b.test> 1700000000 +0000\ndata 1\na\n',
    });
  },
  draws: (program, folder) => ({
    command: [process.execPath, program],
    env: { HOME: folder },
    ready: /Select a worktree/,
    keys: ['\x1b[B', '\x1b[A'],
  }),
};

/** Every peer, installed or not. */
export const PEERS: readonly Peer[] = [backlog, vit, tig, ccmanager];
