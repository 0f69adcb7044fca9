import { readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SvcError } from '../base/errors.ts';
import { readPrivate } from '../base/private-files.ts';
import { quoteForShell } from '../base/text.ts';
import { resolveMachineHome } from './machine-home.ts';
import { isInSandbox } from './seat-folder.ts';

/** Users whose files this process trusts: itself and root, and as root under sudo the invoking user. */
export function isTrustedOwner(uid: number, env: NodeJS.ProcessEnv): boolean {
  const me = process.getuid?.();
  if (me === undefined || uid === me || uid === 0) return true;
  return me === 0 && /^\d+$/.test(env.SUDO_UID ?? '') && uid === Number(env.SUDO_UID);
}

/** Returns `ada (uid 1000)`, or the number alone if the system has no name for it. */
export function describeOwner(uid: number): string {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((each) => each.split(':')[2] === String(uid));
    if (line !== undefined) return `${line.split(':')[0]} (uid ${uid})`;
  } catch {
    // The number is enough then.
  }
  return `uid ${uid}`;
}

const SAFE_FOLDERS = 'safe-folders';
const MOST_BYTES = 64 * 1024;

/** Folders of other users that a person trusts: one absolute path per line. */
function readSafeFolders(env: NodeJS.ProcessEnv): string[] {
  checkHomeOwner(env, ['', SAFE_FOLDERS]);
  const text = readPrivate(join(resolveMachineHome(env), SAFE_FOLDERS), MOST_BYTES) ?? '';
  return text.split('\n').map((line) => line.trim());
}

/**
 * Refuses a workspace whose svc.yaml or folder another user can change, because its content runs as this user. Throws
 * `owner_untrusted`.
 */
export function checkWorkspaceOwner(root: string, file: string, env: NodeJS.ProcessEnv): void {
  for (const path of [file, root]) {
    const found = statSync(path);
    if (!isTrustedOwner(found.uid, env)) {
      // In a sandbox other users appear as `nobody`, and the engine's decision applies.
      if (isInSandbox()) return;
      if (readSafeFolders(env).includes(resolve(root))) return;
      const list = join(resolveMachineHome(env), SAFE_FOLDERS);
      throw new SvcError(
        'owner_untrusted',
        `${path} belongs to ${describeOwner(found.uid)}, who could use it to run anything as you`,
        {
          hint: `if you trust them: mkdir -p ${quoteForShell(dirname(list))} && echo ${quoteForShell(resolve(root))} >> ${quoteForShell(list)}`,
          data: { path, uid: found.uid },
        },
      );
    }
    if (path === file && (found.mode & 0o002) !== 0) {
      throw new SvcError('owner_untrusted', `${path} can be changed by every user of this machine`, {
        hint: `chmod o-w ${quoteForShell(path)}`,
        data: { path },
      });
    }
  }
}

/** Refuses a machine home, or a file in it, that another user can change. Throws `owner_untrusted`. */
export function checkHomeOwner(env: NodeJS.ProcessEnv, names: readonly string[] = ['']): void {
  const home = resolveMachineHome(env);
  for (const name of names) {
    const path = name === '' ? home : join(home, name);
    const found = statVisible(path);
    if (found === undefined) continue;
    if (!isTrustedOwner(found.uid, env)) {
      throw new SvcError('owner_untrusted', `${path} belongs to ${describeOwner(found.uid)}`, {
        hint: 'chown it to yourself, or set SVC_HOME to your own folder',
        data: { path, uid: found.uid },
      });
    }
    if ((found.mode & 0o002) !== 0) {
      throw new SvcError('owner_untrusted', `${path} can be changed by every user of this machine`, {
        hint: `chmod go-w ${quoteForShell(path)}`,
        data: { path },
      });
    }
  }
}

/** Stats a path; null if it is missing, or hidden from this process, which then cannot read it either. */
function statVisible(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
}
