import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { resolveConsentsFile } from '../../../engine/core/access/index.ts';
import { processStat } from '../processes/processes.ts';
import { until } from '../wait.ts';
import { runHere } from './command-line.ts';
import { gitEnvironment, temporaryFolder } from './git.ts';

/** The folder of recordings: per version an archive of one folder and a list of answers. */
export const RECORDINGS = fileURLToPath(new URL('../../../../fixtures/recorded/', import.meta.url));

/** The file that the recorded worker waits for, in its worktree, ignored by git. */
export const GATE = '.svc/gate';

/** A worker that ran when the recording was made, as its engine started it. */
export interface RecordedWorker {
  session: string;
  runId: string;
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  /** File that receives the process's stdout and stderr. */
  log: string;
}

/** The file next to an archive: the recorded program's answers about its own data. */
export interface Recording {
  /** The program's commit. */
  version: string;
  /** Unix ms at which the recorded program was killed. */
  at: number;
  /** Its answers, by command line. */
  answers: Record<string, unknown>;
  worker: RecordedWorker;
}

/**
 * Replaces words in a text. In a recording `@FOLDER@` is the folder that contains `repository`, `home` and `bin`,
 * `@PROGRAM@` is the program's top folder, and `@NODE@` is the path of Node.
 */
export function replaceWords(text: string, words: readonly (readonly [string, string])[]): string {
  let changed = text;
  for (const [from, to] of words) changed = changed.replaceAll(from, to);
  return changed;
}

/** Replaces words in all files below a folder except databases; see `replaceInDatabase`. */
export function replaceInFiles(folder: string, words: readonly (readonly [string, string])[]): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const found = lstatSync(path);
    if (found.isDirectory()) replaceInFiles(path, words);
    else if (found.isFile() && !/\.db(?:-wal|-shm)?$/.test(name)) {
      const bytes = readFileSync(path);
      const text = bytes.toString('utf8');
      // Binary files, such as git's objects, contain no paths.
      if (bytes.includes(0) || !words.some(([from]) => text.includes(from))) continue;
      writeFileSync(path, replaceWords(text, words));
    }
  }
}

/** Replaces words in every text of a database; keeps its schema and version. */
export function replaceInDatabase(file: string, words: readonly (readonly [string, string])[]): void {
  const db = new Database(file);
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[];
  db.transaction(() => {
    for (const table of tables.filter((name) => !name.startsWith('sqlite_'))) {
      const columns = db.pragma(`table_info(${table})`) as { name: string; type: string }[];
      for (const { name } of columns.filter(({ type }) => type === 'TEXT'))
        for (const [from, to] of words)
          db.prepare(
            `UPDATE ${table} SET ${name} = replace(${name}, @from, @to) WHERE instr(${name}, @from) > 0`,
          ).run({ from, to });
    }
  })();
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

/** A recording that was restored in a folder, as if it had been made there. */
export interface Restored {
  recording: Recording;
  root: string;
  folder: string;
  env: NodeJS.ProcessEnv;
  database: string;
  /** The running worker waits for this file. */
  gate: string;
  /**
   * Starts the worker as the recorded engine did, and writes the process to its session's row. With `isRecorded`
   * false, the engine died before it wrote the row.
   */
  startWorker(isRecorded?: boolean): Promise<ChildProcess>;
  /** Returns the current program's answer to a command line, parsed. */
  ask(line: string): Promise<unknown>;
  /** Changes the database while no engine has it open. */
  change(sql: string, ...values: unknown[]): void;
  remove(): void;
}

/** The recorded versions. */
export const listRecordings = (): string[] =>
  readdirSync(RECORDINGS)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length));

/** Reads the file next to an archive; paths are still placeholders. */
export const readRecording = (version: string): Recording =>
  JSON.parse(readFileSync(join(RECORDINGS, `${version}.json`), 'utf8')) as Recording;

/**
 * Restores a recording in a separate folder. Moves the machine's records of the data folder (path, inode and
 * consents) to the new location.
 */
export function restoreRecording(version: string): Restored {
  const folder = temporaryFolder('svc-recorded-');
  const recorded = readRecording(version);
  const { session, runId } = recorded.worker;
  const ownRunId = randomUUID();
  const words = [
    ['@FOLDER@', folder],
    ['@PROGRAM@', fileURLToPath(new URL('../../../../', import.meta.url)).replace(/\/$/, '')],
    ['@NODE@', process.execPath],
    // The run identifies processes when they are found and ended, so two restored recordings must not share it.
    [runId, ownRunId],
  ] as const;
  execFileSync('tar', ['--extract', '--gzip', '--file', join(RECORDINGS, `${version}.tar.gz`), '-C', folder]);
  const recording = JSON.parse(replaceWords(JSON.stringify(recorded), words)) as Recording;
  const root = join(folder, 'repository');
  const data = join(root, '.svc');
  const home = join(folder, 'home');
  const database = join(data, 'svc.db');
  const person = join(folder, 'person');
  mkdirSync(person, { mode: 0o700 });
  const agents = join(data, 'agents', session);
  renameSync(join(agents, runId), join(agents, ownRunId));
  replaceInFiles(folder, words);
  replaceInDatabase(database, words);
  const [known = ''] = readdirSync(join(home, 'data-folders'));
  const record = join(home, 'data-folders', known);
  const { dev, ino } = lstatSync(data);
  const said = JSON.parse(readFileSync(record, 'utf8'));
  writeFileSync(record, JSON.stringify({ ...said, device: dev, inode: ino }));
  const [consents = ''] = readdirSync(join(home, 'consents'));
  renameSync(join(home, 'consents', consents), resolveConsentsFile(home, root));
  const git = gitEnvironment();
  const env: NodeJS.ProcessEnv = {
    ...recording.worker.env,
    PATH: `${join(folder, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
    GIT_CONFIG_NOSYSTEM: git.GIT_CONFIG_NOSYSTEM,
    GIT_CONFIG_GLOBAL: git.GIT_CONFIG_GLOBAL,
    SVC_WEBHOOK_SECRET: 'a secret of the recording',
  };
  for (const name of Object.keys(env)) if (/^SVC_(?!HOME$|WEBHOOK_SECRET$)/.test(name)) delete env[name];
  const change: Restored['change'] = (sql, ...values) => {
    const db = new Database(database);
    db.prepare(sql).run(...values);
    db.close();
  };
  return {
    recording,
    root,
    folder,
    env,
    database,
    gate: join(recording.worker.cwd, GATE),
    change,
    async startWorker(isRecorded = true) {
      const { session, argv, cwd, log, runId, env: ofWorker } = recording.worker;
      const runDir = join(data, 'agents', session, runId);
      rmSync(join(runDir, 'started'));
      const [program = '', ...args] = argv;
      const output = openSync(log, 'w');
      const child = spawn(program, args, {
        cwd,
        env: ofWorker,
        detached: true,
        stdio: ['ignore', output, output],
      });
      closeSync(output);
      await until(() => readFileSync(log, 'utf8').includes('at the gate'), 'the worker to be at the gate');
      const id = Number(session.replace('s-', ''));
      if (isRecorded)
        change(
          'UPDATE session SET pid = ?, pid_start = ? WHERE id = ?',
          child.pid,
          processStat(child.pid ?? 0)?.started,
          id,
        );
      else change("UPDATE session SET state = 'starting', pid = NULL, pid_start = NULL WHERE id = ?", id);
      return child;
    },
    async ask(line) {
      const { code, stdout, stderr } = await runHere([...line.split(' '), '--json'], {
        cwd: root,
        env,
        input: '',
      });
      if (code !== 0) throw new Error(`svc ${line} ended with ${code}: ${stdout}${stderr}`);
      return JSON.parse(stdout);
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
