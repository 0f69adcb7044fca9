import { type ExecFileException, execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, lchownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { temporaryFolder } from './git.ts';
import { isRunning } from './processes.ts';
import { until } from './wait.ts';
import { SVC } from './workspace.ts';

/** Who is not trusted, as docs/operate/security.md numbers them. */
export const ATTACKERS = ['repository', 'text', 'worker', 'neighbour', 'page', 'same-user'] as const;
export type Attacker = (typeof ATTACKERS)[number];

/**
 * A row of the table in docs/operate/security.md. `.ci/generate.js` reads the calls of `hostile` from the sources of
 * test/hostile, so the four are string literals there.
 */
export interface HostileAttempt {
  attacker: Attacker;
  /** What they try, as an infinitive: "make the engine run a filter of its repository". */
  tries: string;
  /** What becomes of it under `guard.profile: lite`, in a few words: "refused", "not stopped". */
  lite: string;
  strict: string;
}

interface HostileOptions {
  /** Why it cannot be tried on this machine; said aloud and counted as skipped. */
  skip?: string | null | false;
  timeoutMs?: number;
}

/** Declares a test that does what an attacker would do, and shows what becomes of it. */
export function hostile(
  { attacker, tries }: HostileAttempt,
  attempt: (t: TestContext) => Promise<void> | void,
  { skip, timeoutMs = 180_000 }: HostileOptions = {},
): void {
  const name = `${attacker}: ${tries}`;
  if (skip) console.error(`NOT TESTED, ${name}: ${skip}`);
  test(name, { skip: skip || false, timeout: timeoutMs }, attempt);
}

/** Whom a test's programs run as. */
export interface TestUser {
  /** `root`, `an ordinary user`. */
  label: string;
  name: string;
  uid: number;
  gid: number;
  isRoot: boolean;
}

export interface Ended {
  /** 128 for an end by signal. */
  code: number;
  stdout: string;
  stderr: string;
}

let ordinary: TestUser | string | undefined;

/** The running processes of a user. */
const processesOf = (uid: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter(
      (pid) => pid > 0 && statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid && isRunning(pid),
    );

/** An account of its own, made for this test file and removed after it. Returns why not as a sentence. */
function makeOrdinaryUser(): TestUser | string {
  if (process.getuid?.() !== 0) return 'only root can make another user';
  const name = `svc-test-${randomBytes(4).toString('hex')}`;
  try {
    execFileSync('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', name], {
      stdio: 'pipe',
    });
  } catch (error) {
    return `useradd failed: ${(error as Error).message.split('\n')[0]}`;
  }
  // What it has started has to end by itself: whoever leaves something behind fails here, with its name.
  after(async () => {
    try {
      await until(() => processesOf(user.uid).length === 0, `the end of what ${name} has started`);
    } finally {
      for (const pid of processesOf(user.uid)) process.kill(pid, 'SIGKILL');
      execFileSync('userdel', ['--force', name], { stdio: 'pipe' });
    }
  });
  const idOf = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  const user = { label: 'an ordinary user', name, uid: idOf('-u'), gid: idOf('-g'), isRoot: false };
  try {
    execFileSync(process.execPath, ['-e', `fs.accessSync(${JSON.stringify(SVC)})`], {
      uid: user.uid,
      gid: user.gid,
      cwd: '/',
      stdio: 'pipe',
    });
  } catch {
    return 'an ordinary user cannot read this checkout';
  }
  return user;
}

/** An account of this machine that is neither root nor whoever runs the tests; null where none can be made, and says so. */
export function ordinaryUser(): TestUser | null {
  ordinary ??= makeOrdinaryUser();
  if (typeof ordinary !== 'string') return ordinary;
  console.error(`NOT TESTED as another user: ${ordinary}`);
  return null;
}

/** Root and an ordinary user where the tests run as root, else only who runs them; says aloud who is left out. */
export function asUsers(): TestUser[] {
  const uid = process.getuid?.() ?? 0;
  const self: TestUser = {
    label: uid === 0 ? 'root' : 'an ordinary user',
    name: '',
    uid,
    gid: process.getgid?.() ?? 0,
    isRoot: uid === 0,
  };
  const other = ordinaryUser();
  return other === null ? [self] : [self, other];
}

/** Gives a folder and all in it to a user; links themselves, not what they lead to. */
export function giveFolderTo(folder: string, { uid, gid }: TestUser): void {
  chownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    lchownSync(join(entry.parentPath, entry.name), uid, gid);
}

/** A temporary folder of a user's, that nobody else may enter. */
export function folderOf(user: TestUser): string {
  const folder = temporaryFolder('svc-hostile-');
  mkdirSync(join(folder, 'home'), { mode: 0o700 });
  giveFolderTo(folder, user);
  return folder;
}

/** Runs a program as a user and waits for its end. */
export const runAs = (
  user: TestUser,
  argv: readonly [string, ...string[]],
  { cwd, env = process.env, input = '' }: { cwd: string; env?: NodeJS.ProcessEnv; input?: string },
): Promise<Ended> =>
  new Promise((resolve) => {
    const [program, ...args] = argv;
    const who = user.uid === process.getuid?.() ? {} : { uid: user.uid, gid: user.gid };
    const child = execFile(
      program,
      args,
      { cwd, env, ...who, maxBuffer: 64 * 1024 * 1024 },
      (error: ExecFileException | null, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 128;
        resolve({ code, stdout, stderr });
      },
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
