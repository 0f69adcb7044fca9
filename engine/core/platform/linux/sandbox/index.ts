import { statSync } from 'node:fs';
import { SvcError } from '../../../base/errors.ts';
import { findOnPath } from '../../../base/find-program.ts';
import { isInsideFolder } from '../../../base/paths.ts';
import { findRealPath } from '../../../base/real-paths.ts';
import {
  findShownAs,
  hidePath,
  type MountedPlace,
  type Sandbox,
  type SandboxRun,
  showPath,
} from '../../sandbox/index.ts';
import { CONFINEMENT_DOCS, describeUnavailable, refuseOpenings, runTrial } from '../../sandbox/sandbox.ts';
import { buildKernelArgs } from './kernel.ts';
import { buildMountArgs } from './mounts.ts';
import { buildProbeCommand, findOpenings, type ProbeWish } from './probe.ts';
import { buildReaderArgs } from './reader.ts';
import { findListeningSockets, isOutOfReachOfRoot, SERVICE_FOLDERS } from './sockets.ts';
import { chooseTerminalGuard } from './terminal.ts';
import { buildUserArgs, chooseUserInside } from './user.ts';

/** Abilities of the installed bubblewrap. */
interface Ability {
  /** True if programs inside cannot create user namespaces, which keeps more of the kernel out of reach. */
  canShutUserns: boolean;
}

/** bubblewrap's path. Throws `tool_missing`. */
function findBubblewrap(env: NodeJS.ProcessEnv): string {
  const found = findOnPath('bwrap', env);
  if (found !== undefined) return found;
  throw new SvcError('tool_missing', 'guard.profile is strict, and bwrap (bubblewrap) is not on PATH', {
    hint: 'install bubblewrap (Debian: apt install bubblewrap), or set guard.profile to lite for later starts',
  });
}

/** Builds the arguments that do not depend on the run. `uid` is root's uid inside; null for an ordinary user. */
const buildNamespaceArgs = (uid: number | null, { canShutUserns }: Ability): string[] => [
  // An ordinary user gets a user namespace anyway; root would otherwise keep its rights.
  ...(uid === null
    ? []
    : ['--unshare-user', '--uid', String(uid), '--gid', String(uid), '--cap-drop', 'ALL']),
  ...(canShutUserns ? [...(uid === null ? ['--unshare-user'] : []), '--disable-userns'] : []),
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts'],
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
  ...buildKernelArgs(),
];

const isRoot = (): boolean => process.getuid?.() === 0;

const chooseUid = (): number | null => (isRoot() ? chooseUserInside() : null);

/** Reports whether this bubblewrap can disable user namespaces here: it needs 0.8, and a writable /proc outside. */
async function detectAbility(program: string, env: NodeJS.ProcessEnv): Promise<Ability> {
  const { stdout, stderr } = await runTrial([program, '--help'], env);
  if (!`${stdout}${stderr}`.includes('--disable-userns')) return { canShutUserns: false };
  const words = buildNamespaceArgs(chooseUid(), { canShutUserns: true });
  const { error } = await runTrial([program, ...words, '--', '/bin/sh', '-c', ':'], env);
  return { canShutUserns: error === null };
}

/**
 * Tries the sandbox with a shell that reports what is open in it. Throws `confinement_unavailable`, with bubblewrap's
 * own message or with a list of what should not be open.
 */
async function trySandbox(
  program: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  probe: ProbeWish,
): Promise<void> {
  const { error, stdout, stderr } = await runTrial(
    [program, ...words, '--', ...buildProbeCommand(probe)],
    env,
  );
  if (error !== null) {
    const said = stderr.split('\n').find((line) => line.trim() !== '') ?? error.message;
    const isForbidden = /namespace|uid map|Operation not permitted|Permission denied/i.test(said);
    throw describeUnavailable(
      said.replace(/^bwrap: /, ''),
      isForbidden
        ? `this system does not let ordinary users create namespaces (AppArmor, sysctl, or a container); ${CONFINEMENT_DOCS}`
        : CONFINEMENT_DOCS,
      error,
    );
  }
  refuseOpenings(findOpenings(stdout, probe), 'bubblewrap');
}

/** Covers the files of listening sockets that are visible and outside the run's own folders. */
function hideSockets({ places, socketFolders }: SandboxRun): MountedPlace[] {
  const own = socketFolders.map((folder) => findRealPath(folder) ?? folder);
  return findListeningSockets()
    .files.filter(
      (path) =>
        !own.some((folder) => isInsideFolder(folder, path)) &&
        !['empty', 'shut'].includes(findShownAs(path, places)) &&
        !(isRoot() && isOutOfReachOfRoot(path)),
    )
    .map((path) => ({ path, show: 'read', from: '/dev/null' }));
}

/** Creates the sandbox of Linux, bubblewrap. Only its abilities are cached. */
export function createBubblewrapSandbox(): Sandbox {
  const abilities = new Map<string, Promise<Ability>>();

  function findAbility(program: string, env: NodeJS.ProcessEnv): Promise<Ability> {
    const key = `${program} ${statSync(program).mtimeMs}`;
    const known = abilities.get(key) ?? detectAbility(program, env);
    abilities.set(key, known);
    return known;
  }

  async function tryHere(env: NodeJS.ProcessEnv): Promise<Ability & { program: string }> {
    const program = findBubblewrap(env);
    const ability = await detectAbility(program, env);
    const nothing = { places: [], readOnly: [], unseen: [] };
    await trySandbox(program, buildNamespaceArgs(chooseUid(), ability), env, nothing);
    return { program, ...ability };
  }

  return {
    locate: findBubblewrap,
    hideSystem: () => [
      ...['/tmp', '/var/tmp'].flatMap((path) => hidePath(path, 'empty', '1777')),
      ...['/run', '/var/run', ...SERVICE_FOLDERS].flatMap((path) => hidePath(path, 'shut')),
      // Some systems resolve host names with files here.
      ...showPath('/etc/resolv.conf', 'read'),
      ...showPath('/run/current-system', 'read'),
    ],
    async check(env) {
      const { program, canShutUserns } = await tryHere(env);
      const missing = canShutUserns
        ? []
        : ['programs inside may create user namespaces (bubblewrap 0.8 can forbid it)'];
      return { program, missing, abstractSockets: findListeningSockets().abstract };
    },
    async wrap(run, env) {
      const { argv, cwd, folder, variables, endsWithParent, filterFd } = run;
      const bwrap = findBubblewrap(env);
      const uid = chooseUid();
      const places = [...run.places, ...hideSockets(run)];
      const home = run.env.HOME ?? '';
      const words = [
        ...buildNamespaceArgs(uid, await findAbility(bwrap, env)),
        ...buildMountArgs(places),
        ...(uid === null ? [] : buildUserArgs(uid, { home, folder })),
        ...Object.entries(variables).flatMap(([name, value]) =>
          value === null ? ['--unsetenv', name] : ['--setenv', name, value],
        ),
        ...['--chdir', cwd],
        ...(endsWithParent ? ['--die-with-parent'] : []),
      ];
      await trySandbox(bwrap, words, run.env, { ...run, places });
      const filter = filterFd === undefined ? [] : ['--seccomp', String(filterFd)];
      return [bwrap, ...words, ...filter, '--', ...argv];
    },
    async wrapReader(reader, env) {
      const { program, canShutUserns } = await tryHere(env);
      return [program, ...buildReaderArgs(reader, canShutUserns)];
    },
    chooseTerminalGuard,
  };
}
