import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { SvcError } from '../../../base/errors.ts';
import { DEFAULT_PATH, findProgram } from '../../../base/find-program.ts';
import { isInsideFolder } from '../../../base/paths.ts';
import { findRealPath } from '../../../base/real-paths.ts';
import { hidePath, isHiding, type MountedPlace, type Sandbox, showPath } from '../../sandbox/index.ts';
import { CONFINEMENT_DOCS, describeUnavailable, refuseOpenings, runTrial } from '../../sandbox/sandbox.ts';
import { listOpenPaths, listTold, TRIAL_SCRIPT } from '../../sandbox/trial.ts';
import { buildProfile, findFoldersOnTheWay, type ProfileSpec, selectRules } from './profile.ts';

// macOS's own sandbox, as its manual and the profiles of others describe it. It was never run on such a machine: the
// trial before each run decides, and a run whose trial fails does not start.

/** Folders of people and their programs. Not all of `/private/var`: `/bin/sh` reads there which shell it is. */
const PERSONAL_FOLDERS = ['/Users', '/Volumes', '/private/tmp', '/private/var/tmp', '/private/var/folders'];
/** The folder above each user's temporary folders. */
const USER_FOLDERS = '/private/var/folders';

/** Starts the command in a folder. */
const IN_FOLDER = ['/bin/sh', '-c', 'cd "$1" || exit; shift; exec "$@"', 'svc'];

/**
 * Tries, in addition to the paths, to signal the process outside, and to give a file that may only be read a second
 * name in a folder that may be written.
 */
const SCRIPT = `if kill -0 "$1" 2>/dev/null; then printf 'told it can signal processes outside\\n'; fi
if [ -n "$2" ] && ln "$2" "$3" 2>/dev/null; then rm -f "$3"; printf 'told it can link to files that it may only read\\n'; fi
shift 3
${TRIAL_SCRIPT}`;

/** Returns the path of sandbox-exec, which every macOS has. Throws `tool_missing`, `confinement_unavailable`. */
function findSandboxExec(env: NodeJS.ProcessEnv, uid: number | undefined): string {
  const found = findProgram('sandbox-exec', { cwd: sep, path: `${env.PATH ?? ''}:${DEFAULT_PATH}` });
  if (found === undefined)
    throw new SvcError('tool_missing', 'guard.profile is strict, and sandbox-exec is not on PATH', {
      hint: 'it is part of macOS; set guard.profile to lite for later starts',
    });
  if (uid === 0)
    throw describeUnavailable(
      'root has rights that no profile takes away',
      'start the engine as your own user',
    );
  return found;
}

interface Trial {
  places: readonly MountedPlace[];
  readOnly: readonly string[];
  unseen: readonly string[];
  /** A file that may only be read, and a path that may be written. */
  link: { file: string; name: string } | null;
}

/** Adds what the rules themselves say to the paths of a trial. */
function listTrialPaths({ places, readOnly, unseen }: Trial): { readOnly: string[]; unseen: string[] } {
  const rules = [...selectRules(places).values()];
  const onTheWay = findFoldersOnTheWay(places);
  const hidden = rules.filter((rule) => isHiding(rule) && !onTheWay.has(rule.path));
  const read = rules.filter(({ show }) => show === 'read');
  return {
    readOnly: [...readOnly, ...read.map(({ path }) => path)],
    unseen: [...unseen, ...hidden.map(({ path }) => path)],
  };
}

const buildStart = (program: string, spec: ProfileSpec): [string, ...string[]] => {
  const { profile, parameters } = buildProfile(spec);
  return [program, '-p', profile, ...parameters.flatMap((path, at) => ['-D', `P${at}=${path}`])];
};

/** Runs the trial. Throws `confinement_unavailable`, with the system's own message or a list of what is open. */
async function trySandbox(
  start: readonly [string, ...string[]],
  trial: Trial,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { readOnly, unseen } = listTrialPaths(trial);
  const { link } = trial;
  const words = [String(process.pid), link?.file ?? '', link?.name ?? '', ...readOnly, '--', ...unseen];
  const { error, stdout, stderr } = await runTrial([...start, '/bin/sh', '-c', SCRIPT, 'svc', ...words], env);
  if (error !== null) {
    const said = stderr.split('\n').find((line) => line.trim() !== '') ?? error.message;
    throw describeUnavailable(said.replace(/^sandbox-exec: /, ''), CONFINEMENT_DOCS, error);
  }
  refuseOpenings([...listTold(stdout, 'told'), ...listOpenPaths(stdout)], 'sandbox-exec');
}

/** Creates the sandbox of macOS, sandbox-exec(1), for a user. */
export function createSeatbeltSandbox(uid = process.getuid?.()): Sandbox {
  const locate = (env: NodeJS.ProcessEnv): string => findSandboxExec(env, uid);
  return {
    locate,
    hideSystem() {
      const own = dirname(findRealPath(tmpdir()) ?? sep);
      const folders = ['/private/tmp', '/private/var/tmp'];
      if (isInsideFolder(USER_FOLDERS, own) && own !== USER_FOLDERS) folders.push(own);
      return folders.flatMap((path) => hidePath(path, 'empty'));
    },
    async check(env) {
      const program = locate(env);
      const system = findRealPath('/usr');
      const places: MountedPlace[] = system === null ? [] : [{ path: system, show: 'read' }];
      const start = buildStart(program, { places, socketFolders: [], hasNetwork: true });
      await trySandbox(start, { places, readOnly: [], unseen: [], link: null }, env);
      return { program, missing: [], abstractSockets: [] };
    },
    async wrap({ argv, cwd, env, places, variables, folder, socketFolders, readOnly, unseen }, engine) {
      const program = locate(engine);
      const start = buildStart(program, {
        places,
        socketFolders: socketFolders.map((each) => findRealPath(each) ?? each),
        hasNetwork: true,
      });
      const file = join(folder, 'trial');
      writeFileSync(file, '', { mode: 0o600 });
      const temporary = variables.TMPDIR;
      const link = temporary == null ? null : { file, name: join(temporary, 'trial') };
      await trySandbox(start, { places, readOnly, unseen, link }, env);
      const words = Object.entries(variables).flatMap(([name, value]) =>
        value === null ? ['-u', name] : [],
      );
      const set = Object.entries(variables).flatMap(([name, value]) =>
        value === null ? [] : [`${name}=${value}`],
      );
      return [...start, '/usr/bin/env', ...words, ...set, ...IN_FOLDER, cwd, ...argv];
    },
    async wrapReader({ argv, folder, without, files }, env) {
      const program = locate(env);
      const home = findRealPath(env.HOME ?? '');
      const places: MountedPlace[] = [
        ...[...PERSONAL_FOLDERS, ...(home === null ? [] : [home])].flatMap((path) => hidePath(path, 'shut')),
        ...[folder, ...files].filter((path) => existsSync(path)).flatMap((path) => showPath(path, 'read')),
        ...without.flatMap((path) => hidePath(path, 'shut')),
      ];
      const start = buildStart(program, { places, socketFolders: [], hasNetwork: false });
      await trySandbox(start, { places, readOnly: [], unseen: [], link: null }, env);
      return [...start, '/usr/bin/env', '-i', ...IN_FOLDER, folder, ...argv];
    },
    chooseTerminalGuard: () => null, // the profile refuses the call
  };
}
