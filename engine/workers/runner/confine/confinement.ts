import { dirname, join, sep } from 'node:path';
import { SvcError } from '../../../core/base/errors.ts';
import { isInsideFolder } from '../../../core/base/paths.ts';
import { makePrivateFolder } from '../../../core/base/private-files.ts';
import { findRealPath, isFolder } from '../../../core/base/real-paths.ts';
import { sentence } from '../../../core/base/sentence.ts';
import {
  describeUnavailable,
  findShownAs,
  hidePath,
  isHiding,
  type MountedPlace,
  platform,
  type Sandbox,
  type SandboxFacts,
  type SandboxReader,
  type SandboxRun,
  type SandboxSource,
  showPath,
} from '../../../core/platform/index.ts';
import { SEAT_FOLDER } from '../../../core/workspace/seat-folder.ts';
import type { HomeShare } from '../../agents/presets/index.ts';
import { resolveProgram } from '../processes/start.ts';
import { REAL_OBJECTS } from '../worktrees/git/private-git.ts';
import { buildHomeRules, movePlacesOfHome } from './home.ts';
import { buildProgramRules } from './programs.ts';
import { buildInplaceRules, buildReadOnlyRules, buildWorktreeRules, findGitFolders } from './repository.ts';

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
  /** Returns where a confined run sees the folder with its own socket. */
  findSeat(seatFolder: string): string;
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
  /** This system's by default. */
  sandbox?: SandboxSource;
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

/** The variables that every run gets or loses. */
const VARIABLES: Record<string, string | null> = Object.fromEntries([
  ...DROPPED.map((name) => [name, null]),
  ['GIT_CONFIG_COUNT', String(GIT_SETTINGS.length)],
  ...GIT_SETTINGS.flatMap(([name, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, name],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]),
]);

/** Checks by a trial whether workers can be confined here. Throws as `wrap` does. */
export const checkConfinement = async (env: NodeJS.ProcessEnv): Promise<SandboxFacts> =>
  (await platform.sandbox.load()).check(env);

/** Builds the command that runs a program which may only read one folder. Throws as `checkConfinement` does. */
export const confineReader = async (reader: SandboxReader, env: NodeJS.ProcessEnv): Promise<string[]> =>
  (await platform.sandbox.load()).wrapReader(reader, env);

/**
 * Selects how a run sees its repository. A private git folder has to be mounted over the repository's own places:
 * without mounts a worker in a worktree cannot commit, and the engine commits its files at the end.
 */
const selectGitRules = ({ isGuest, worktree }: ConfineSpec, canMount: boolean) => {
  if (worktree === null && !isGuest) return buildInplaceRules;
  return isGuest || !canMount ? buildReadOnlyRules : buildWorktreeRules;
};

/** The view of a run, and its variables. */
type RunView = Pick<SandboxRun, 'places' | 'socketFolders' | 'variables'>;

/** Confines workers. Rules are rebuilt for each run. */
export function createConfinement(deps: ConfinementDeps): Confinement {
  const { root, configFile, paths, machineHome, svc } = deps;
  const { canMount, load } = deps.sandbox ?? platform.sandbox;

  /** Builds the rules for a run; the deepest rule that covers a path applies. */
  function buildRules(sandbox: Sandbox, spec: ConfineSpec, programs: readonly string[]): RunView {
    const home = findRealPath(spec.env.HOME ?? '');
    const writable = spec.worktree ?? spec.cwd;
    if (home === sep) throw describeUnavailable('its home folder is /', 'give the engine its own HOME');
    const git = findGitFolders(writable);
    if (spec.worktree !== null && git === null)
      throw describeUnavailable(
        `${spec.worktree} is not a git worktree`,
        sentence`{task.run} creates a new one`,
      );
    const kept = join(spec.sessionFolder, 'agent');
    makePrivateFolder(dirname(spec.sessionFolder), kept);
    const hides = [...sandbox.hideSystem(), ...hideFolders(deps, home)];
    const hidden = hides.filter(isHiding).map(({ path }) => path);
    const ofHome = [
      ...buildProgramRules({ env: spec.env, home, hidden, programs, svc, written: writable }),
      ...(home === null ? [] : buildHomeRules(home, spec.home, join(findRealPath(kept) ?? kept, 'home'))),
    ];
    const moved =
      canMount || home === null
        ? null
        : movePlacesOfHome(ofHome, {
            home,
            kept: findRealPath(kept) ?? kept,
            isGuest: spec.isGuest === true,
          });
    const places = [
      ...hides,
      ...showPath(root, 'read'),
      ...showPath(configFile, 'read'),
      ...(moved?.places ?? ofHome),
      ...showPath(writable, 'write'),
      ...(git === null
        ? []
        : selectGitRules(spec, canMount)(git, findRealPath(paths.agents) ?? paths.agents)),
      ...showPath(spec.sessionFolder, 'read'),
      ...showPath(kept, spec.isGuest ? 'read' : 'write'),
      ...(spec.seatFolder === null || !canMount ? [] : buildSeatRules(spec.seatFolder, paths.data)),
    ];
    // In place the configuration is inside the writable folder, and it names programs that the engine runs.
    if (spec.worktree === null) places.push({ path: findRealPath(configFile) ?? configFile, show: 'read' });
    if (findShownAs(findRealPath(writable) ?? writable, places) !== 'write')
      throw describeUnavailable(
        `${writable} is a folder that must be hidden`,
        'move the project into its own folder',
      );
    const socketFolders = [
      writable,
      ...(spec.seatFolder === null ? [] : [spec.seatFolder]),
      ...(moved === null ? [] : [moved.temporary]),
    ];
    return { places, socketFolders, variables: moved?.variables ?? {} };
  }

  return {
    findSeat: (seatFolder) => (canMount ? SEAT_FOLDER : seatFolder),
    async wrap(spec) {
      const sandbox = await load();
      sandbox.locate(deps.env);
      const { cwd, env } = spec;
      const [program, ...others] = [spec.argv[0] ?? '', ...(spec.programs ?? [])].map((each) =>
        resolveProgram(each, cwd, env.PATH),
      ) as [string, ...string[]];
      const view = buildRules(sandbox, spec, [program, ...others]);
      if (!isFolder(cwd)) throw new SvcError('spawn_failed', `the worker's folder ${cwd} does not exist`);
      return sandbox.wrap(
        {
          argv: [program, ...spec.argv.slice(1)],
          cwd,
          env,
          ...view,
          variables: { ...VARIABLES, ...view.variables },
          folder: spec.sessionFolder,
          readOnly: listReadOnlyPaths(deps, spec),
          unseen: [
            paths.db,
            join(paths.data, 'device.token'),
            ...['keys.env', 'device.token'].map((name) => join(machineHome, name)),
          ],
          ...(spec.endsWithParent ? { endsWithParent: true } : {}),
          ...(spec.filterFd === undefined ? {} : { filterFd: spec.filterFd }),
        },
        deps.env,
      );
    },
  };
}

/** Hides folders in which a worker sees nothing, or only explicit exceptions. */
function hideFolders({ paths, machineHome }: ConfinementDeps, home: string | null): MountedPlace[] {
  // A database or socket outside the data folder is hidden with its folder, since the file may be created again.
  const apart = [paths.db, paths.socket].map(dirname).filter((folder) => !isInsideFolder(paths.data, folder));
  return [
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
    { path: SEAT_FOLDER, show: 'read', from: findRealPath(seatFolder) ?? seatFolder },
    { path: join(findRealPath(data) ?? data, 'daemon.json'), link: join(SEAT_FOLDER, 'daemon.json') },
  ];
}
