import { type ExecFileException, execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, lchownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { isRunning } from './processes/processes.ts';
import { until } from './wait.ts';
import { temporaryFolder } from './workspaces/git.ts';
import { SVC } from './workspaces/workspace.ts';

/** The untrusted parties, numbered as in docs/operate/security.md. */
export const ATTACKERS = ['repository', 'text', 'worker', 'neighbour', 'page', 'same-user'] as const;
export type Attacker = (typeof ATTACKERS)[number];

/**
 * A row of the table in docs/operate/security.md. `.ci/generate.js` reads the calls of `hostile` from the sources of
 * test/hostile, so the four values are string literals there.
 */
export interface HostileAttempt {
  attacker: Attacker;
  /** The attack, as an infinitive: "make the engine run a filter of its repository". */
  tries: string;
  /** The outcome under `guard.profile: lite`, in a few words: "refused", "not stopped". */
  lite: string;
  strict: string;
}

interface HostileOptions {
  /** Why the attack cannot be tried on this machine; printed, and the test counts as skipped. */
  skip?: string | null | false;
  timeoutMs?: number;
}

/** Declares a test that attacks and shows the outcome. */
export function hostile(
  { attacker, tries }: HostileAttempt,
  attempt: (t: TestContext) => Promise<void> | void,
  { skip, timeoutMs = 180_000 }: HostileOptions = {},
): void {
  const name = `${attacker}: ${tries}`;
  if (skip) console.error(`NOT TESTED, ${name}: ${skip}`);
  test(name, { skip: skip || false, timeout: timeoutMs }, attempt);
}

/** The user that a test's programs run as. */
export interface TestUser {
  /** `root`, `an ordinary user`. */
  label: string;
  name: string;
  uid: number;
  gid: number;
  isRoot: boolean;
}

export interface Ended {
  /** Exit status; 128 if a signal ended it. */
  code: number;
  stdout: string;
  stderr: string;
}

let ordinary: TestUser | string | undefined;

/** Returns the running processes of a user. */
const processesOf = (uid: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter(
      (pid) => pid > 0 && statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid && isRunning(pid),
    );

/** Creates an account for this test file and removes it afterwards. Returns the reason as a sentence if it cannot. */
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
  // The account's processes must end by themselves: a test that leaves one behind fails here and names it.
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

/**
 * Returns an account that is neither root nor the user who runs the tests; prints why and returns null if it cannot
 * be created.
 */
export function ordinaryUser(): TestUser | null {
  ordinary ??= makeOrdinaryUser();
  if (typeof ordinary !== 'string') return ordinary;
  console.error(`NOT TESTED as another user: ${ordinary}`);
  return null;
}

/**
 * Returns root and an ordinary user if the tests run as root, otherwise only the current user; prints who is left
 * out.
 */
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

/** Gives a folder and its contents to a user; changes the links themselves, not their targets. */
export function giveFolderTo(folder: string, { uid, gid }: TestUser): void {
  chownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    lchownSync(join(entry.parentPath, entry.name), uid, gid);
}

/** Creates a temporary folder that only the user can enter. */
export function folderOf(user: TestUser): string {
  const folder = temporaryFolder('svc-hostile-');
  mkdirSync(join(folder, 'home'), { mode: 0o700 });
  giveFolderTo(folder, user);
  return folder;
}

/** Runs a program as a user and waits until it exits. */
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
