import { statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { SvcError } from '../../../core/base/errors.ts';
import { findProgram } from '../../../core/base/find-program.ts';
import { isInsideFolder } from '../../../core/base/paths.ts';
import { makePrivateFolder } from '../../../core/base/private-files.ts';
import { type ProgramResult, runProgram } from '../../../core/base/run-program.ts';
import { type SentenceWords, sentence } from '../../../core/base/sentence.ts';
import { SEAT_FOLDER } from '../../../core/workspace/seat-folder.ts';
import type { HomeShare } from '../../agents/presets/index.ts';
import { resolveProgram } from '../processes/start.ts';
import { REAL_OBJECTS } from '../worktrees/git/private-git.ts';
import { buildHomeRules } from './home.ts';
import { buildKernelArgs } from './kernel.ts';
import { isFolder, realOf } from './paths.ts';
import { buildProbeCommand, findOpenings, type ProbeWish } from './probe.ts';
import { buildProgramRules } from './programs.ts';
import { buildInplaceRules, buildReadOnlyRules, buildWorktreeRules, findGitFolders } from './repository.ts';
import { buildMountArgs, findShownAs, hidePath, type MountedPlace, showPath } from './rules.ts';
import { findListeningSockets, isOutOfReachOfRoot, SERVICE_FOLDERS } from './sockets.ts';
import { buildUserArgs, chooseUserInside } from './user.ts';

/** A run that has to be confined. */
export interface ConfineSpec {
  argv: readonly string[];
  /** Programs that the program of `argv` starts, such as the agent's own. */
  programs?: readonly string[];
  /** The folder where the agent starts: inside the worktree, or the project's folder. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Null for a run in the project's folder itself. */
  worktree: string | null;
  /** `<paths.agents>/<session>`: the run may read it, and write its `agent/`. */
  sessionFolder: string;
  /** The folder with the run's own socket; null for none. */
  seatFolder: string | null;
  /** The parts of the person's home that the agent needs; null if svc does not know the agent. */
  home: HomeShare | null;
  /** True if it may read the repository and the agent's private folder, but write to neither. */
  isGuest?: boolean;
  /** True if it is killed together with its parent process; a worker is not. */
  endsWithParent?: boolean;
  /** File descriptor of a system call filter, in the process that starts it. */
  filterFd?: number;
}

export interface Confinement {
  /**
   * Builds the command that runs `argv` confined, after trying the sandbox with another program. Throws
   * `tool_missing`, `confinement_unavailable`, `agent_not_found`: it never falls back to an unconfined run.
   */
  wrap(spec: ConfineSpec): Promise<string[]>;
}

export interface ConfinementDeps {
  /** The engine's own environment, for finding bubblewrap. */
  env: NodeJS.ProcessEnv;
  /** The workspace's folder. */
  root: string;
  /** svc.yaml. */
  configFile: string;
  paths: { data: string; db: string; socket: string; agents: string; worktrees: string };
  /** The folder for keys of this machine. */
  machineHome: string;
  /** Program and arguments that run `svc`. */
  svc: readonly string[] | null;
}

/** Variables that name hidden sockets and folders. */
const DROPPED = [
  ...['SSH_AUTH_SOCK', 'GIT_SSH', 'GIT_SSH_COMMAND', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'],
  ...['TMPDIR', 'TMP', 'TEMP'],
];

/** Signing keys are not visible, and background maintenance would write where it may not. */
const GIT_SETTINGS = [
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
] as const;

const TRIAL_MS = 10_000;

const DOCS = 'docs/operate/confinement.md lists the requirements';

const unavailableError = (what: string, hint: SentenceWords, cause?: unknown): SvcError =>
  new SvcError('confinement_unavailable', `the worker cannot be confined: ${what}`, { hint, cause });

/** bubblewrap's path. Throws `tool_missing`, `confinement_unavailable`. */
function findBubblewrap(path: string | undefined): string {
  if (process.platform !== 'linux')
    throw unavailableError('bubblewrap only exists for Linux', 'set guard.profile to lite');
  const found = findProgram('bwrap', { cwd: sep, path });
  if (found !== undefined) return found;
  throw new SvcError('tool_missing', 'guard.profile is strict, and bwrap (bubblewrap) is not on PATH', {
    hint: 'install bubblewrap (Debian: apt install bubblewrap), or set guard.profile to lite for later starts',
  });
}

/** Abilities of the installed bubblewrap. */
interface Ability {
  /** True if programs inside cannot create user namespaces, which keeps more of the kernel out of reach. */
  canShutUserns: boolean;
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

const runOnce = (program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<ProgramResult> =>
  runProgram(program, args, { env, timeoutMs: TRIAL_MS, mostBytes: 4 * 1024 * 1024 });

/** Reports whether this bubblewrap can disable user namespaces here: it needs 0.8, and a writable /proc outside. */
async function detectAbility(program: string, env: NodeJS.ProcessEnv): Promise<Ability> {
  const { stdout, stderr } = await runOnce(program, ['--help'], env);
  if (!`${stdout}${stderr}`.includes('--disable-userns')) return { canShutUserns: false };
  const words = buildNamespaceArgs(chooseUid(), { canShutUserns: true });
  const { error } = await runOnce(program, [...words, '--', '/bin/sh', '-c', ':'], env);
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
  const { error, stdout, stderr } = await runOnce(
    program,
    [...words, '--', ...buildProbeCommand(probe)],
    env,
  );
  if (error !== null) {
    const said = stderr.split('\n').find((line) => line.trim() !== '') ?? error.message;
    const isForbidden = /namespace|uid map|Operation not permitted|Permission denied/i.test(said);
    throw unavailableError(
      said.replace(/^bwrap: /, ''),
      isForbidden
        ? `this system does not let ordinary users create namespaces (AppArmor, sysctl, or a container); ${DOCS}`
        : DOCS,
      error,
    );
  }
  const open = findOpenings(stdout, probe);
  if (open.length === 0) return;
  throw unavailableError(
    `the sandbox was tested, and ${open.slice(0, 3).join('; ')}${open.length > 3 ? `; and ${open.length - 3} more` : ''}`,
    `something on this machine opens what bubblewrap has closed; ${DOCS}`,
  );
}

/** The facts that doctor reports about the sandbox. */
export interface ConfinementHere extends Ability {
  program: string;
  /** Abstract sockets of listening programs on this machine; a worker can reach them over the network. */
  abstractSockets: string[];
}

/** Checks by a trial whether workers can be confined here. Throws as `wrap` does. */
export async function checkConfinement(env: NodeJS.ProcessEnv): Promise<ConfinementHere> {
  const program = findBubblewrap(env.PATH);
  const ability = await detectAbility(program, env);
  const nothing = { places: [], readOnly: [], unseen: [] };
  await trySandbox(program, buildNamespaceArgs(chooseUid(), ability), env, nothing);
  return { program, ...ability, abstractSockets: findListeningSockets().abstract };
}

const selectGitRules = ({ isGuest, worktree }: ConfineSpec) =>
  isGuest ? buildReadOnlyRules : worktree === null ? buildInplaceRules : buildWorktreeRules;

/** Confines workers with bubblewrap. Rules are rebuilt for each run; only bubblewrap's abilities are cached. */
export function createConfinement(deps: ConfinementDeps): Confinement {
  const { root, configFile, paths, machineHome, svc } = deps;
  const abilities = new Map<string, Promise<Ability>>();

  function findAbility(program: string): Promise<Ability> {
    const key = `${program} ${statSync(program).mtimeMs}`;
    const known = abilities.get(key) ?? detectAbility(program, deps.env);
    abilities.set(key, known);
    return known;
  }

  /** Builds the rules for a run; the deepest rule that covers a path applies. */
  function buildRules(spec: ConfineSpec, programs: readonly string[]): MountedPlace[] {
    const home = realOf(spec.env.HOME ?? '');
    const writable = spec.worktree ?? spec.cwd;
    if (home === sep) throw unavailableError('its home folder is /', 'give the engine its own HOME');
    const git = findGitFolders(writable);
    if (spec.worktree !== null && git === null)
      throw unavailableError(
        `${spec.worktree} is not a git worktree`,
        sentence`{task.run} creates a new one`,
      );
    const kept = join(spec.sessionFolder, 'agent');
    makePrivateFolder(dirname(spec.sessionFolder), kept);
    const hides = hideFolders(deps, home);
    const hiddenFolders = hides.map(({ path }) => path);
    const { seatFolder } = spec;
    const isSeat = (path: string): boolean =>
      seatFolder !== null && isInsideFolder(realOf(seatFolder) ?? seatFolder, path);
    const seat = seatFolder === null ? [] : buildSeatRules(seatFolder, paths.data);
    const rules = [
      ...hides,
      // Some systems resolve host names with files here.
      ...showPath('/etc/resolv.conf', 'read'),
      ...showPath('/run/current-system', 'read'),
      ...showPath(root, 'read'),
      ...showPath(configFile, 'read'),
      ...buildProgramRules({ env: spec.env, home, hidden: hiddenFolders, programs, svc, written: writable }),
      ...(home === null ? [] : buildHomeRules(home, spec.home, join(realOf(kept) ?? kept, 'home'))),
      ...showPath(writable, 'write'),
      ...(git === null ? [] : selectGitRules(spec)(git, realOf(paths.agents) ?? paths.agents)),
      ...showPath(spec.sessionFolder, 'read'),
      ...showPath(kept, spec.isGuest ? 'read' : 'write'),
      ...seat,
    ];
    // In place the configuration is inside the writable folder, and it names programs that the engine runs.
    if (spec.worktree === null)
      rules.push(...[{ path: realOf(configFile) ?? configFile, show: 'read' } as const]);
    const real = realOf(writable) ?? writable;
    // Last, when all visible paths are known. Sockets in the worktree are the worker's own.
    for (const path of findListeningSockets().files)
      if (
        !isInsideFolder(real, path) &&
        !['empty', 'shut'].includes(findShownAs(path, rules)) &&
        !isSeat(path) &&
        !(isRoot() && isOutOfReachOfRoot(path))
      )
        rules.push({ path, show: 'read', from: '/dev/null' });
    if (findShownAs(real, rules) !== 'write')
      throw unavailableError(
        `${writable} is a folder that must be hidden`,
        'move the project into its own folder',
      );
    return rules;
  }

  return {
    async wrap(spec) {
      const bwrap = findBubblewrap(deps.env.PATH);
      const program = resolveProgram(spec.argv[0] ?? '', spec.cwd, spec.env.PATH);
      const { cwd, env } = spec;
      const others = (spec.programs ?? []).map((each) => resolveProgram(each, cwd, env.PATH));
      const places = buildRules(spec, [program, ...others]);
      const settings = GIT_SETTINGS.flatMap(([name, value], at) => [
        ...['--setenv', `GIT_CONFIG_KEY_${at}`, name],
        ...['--setenv', `GIT_CONFIG_VALUE_${at}`, value],
      ]);
      const uid = chooseUid();
      const home = spec.env.HOME ?? '';
      const words = [
        ...buildNamespaceArgs(uid, await findAbility(bwrap)),
        ...buildMountArgs(places),
        ...(uid === null ? [] : buildUserArgs(uid, { home, folder: spec.sessionFolder })),
        ...DROPPED.flatMap((name) => ['--unsetenv', name]),
        ...['--setenv', 'GIT_CONFIG_COUNT', String(GIT_SETTINGS.length), ...settings],
        ...['--chdir', spec.cwd],
        ...(spec.endsWithParent ? ['--die-with-parent'] : []),
      ];
      if (!isFolder(spec.cwd))
        throw new SvcError('spawn_failed', `the worker's folder ${spec.cwd} does not exist`);
      const unseen = [
        paths.db,
        join(paths.data, 'device.token'),
        ...['keys.env', 'device.token'].map((name) => join(machineHome, name)),
      ];
      await trySandbox(bwrap, words, spec.env, { places, readOnly: listReadOnlyPaths(deps, spec), unseen });
      const filter = spec.filterFd === undefined ? [] : ['--seccomp', String(spec.filterFd)];
      return [bwrap, ...words, ...filter, '--', program, ...spec.argv.slice(1)];
    },
  };
}

/** Hides folders in which a worker sees nothing, or only explicit exceptions. */
function hideFolders({ paths, machineHome }: ConfinementDeps, home: string | null): MountedPlace[] {
  // A database or socket outside the data folder is hidden with its folder, since the file may be created again.
  const apart = [paths.db, paths.socket].map(dirname).filter((folder) => !isInsideFolder(paths.data, folder));
  return [
    ...['/tmp', '/var/tmp'].flatMap((path) => hidePath(path, 'empty', '1777')),
    ...['/run', '/var/run', ...SERVICE_FOLDERS].flatMap((path) => hidePath(path, 'shut')),
    ...(home === null ? [] : hidePath(home, 'empty', '0700')),
    ...[machineHome, paths.data, paths.agents, paths.worktrees, ...apart].flatMap((path) =>
      hidePath(path, 'shut'),
    ),
  ];
}

/** Lists paths that no run may write, regardless of its rules; in place many of them are in the writable folder. */
function listReadOnlyPaths(
  { root, configFile, paths, machineHome }: ConfinementDeps,
  { worktree, sessionFolder }: ConfineSpec,
): string[] {
  const ofSession = ['log', 'passwd', 'git'].map((name) => join(sessionFolder, name));
  const common = worktree === null ? null : findGitFolders(worktree)?.common;
  if (common == null) return ofSession;
  const ofGit = ['', 'HEAD', 'config', 'packed-refs', 'refs/heads', 'refs/heads/main', 'hooks', 'info'];
  return [
    ...ofSession,
    ...[root, configFile, paths.data, paths.agents, machineHome, REAL_OBJECTS],
    ...[...ofGit, 'objects/info'].map((name) => join(common, name)),
  ];
}

/** Shows the folder of the run's own socket, where every client looks first. */
function buildSeatRules(seatFolder: string, data: string): MountedPlace[] {
  return [
    { path: SEAT_FOLDER, show: 'read', from: realOf(seatFolder) ?? seatFolder },
    { path: join(realOf(data) ?? data, 'daemon.json'), link: join(SEAT_FOLDER, 'daemon.json') },
  ];
}
