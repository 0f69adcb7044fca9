import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { SvcError } from '../../errors.ts';
import { SEAT_FOLDER } from '../../seat-folder.ts';
import type { HomeShare } from '../presets/preset.ts';
import { programOf } from '../processes/start.ts';
import { findProgram } from '../program.ts';
import { homeRules } from './home.ts';
import { isFolder, isWithin, realOf } from './paths.ts';
import { programRules } from './programs.ts';
import { gitFoldersOf, inplaceRules, lookingRules, worktreeRules } from './repository.ts';
import { hiding, mounts, type Place, showing, shownAt } from './rules.ts';

/** A run that is to be confined. */
export interface ConfineSpec {
  argv: readonly string[];
  /** The agent's own program, when `argv` starts another one that starts it. */
  program?: string;
  /** Where the agent starts: inside the worktree, or the project's folder. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Null for a run in the project's folder itself. */
  worktree: string | null;
  /** `<paths.agents>/<session>`: the run may read it, and write its `agent/`. */
  sessionFolder: string;
  /** The folder with the run's own socket; null for none. */
  seatFolder: string | null;
  /** What the agent needs of the person's home; null when svc does not know the agent. */
  home: HomeShare | null;
  /** It may look into the repository and the agent's private folder, but write in neither. */
  isGuest?: boolean;
  /** It is killed with the process that starts it; a worker goes on. */
  endsWithParent?: boolean;
  /** An open file with a filter of its system calls, by its number in the process that starts it. */
  filterFd?: number;
}

export interface Confinement {
  /**
   * The command that runs `argv` confined, tried out beforehand with another program in its place. Throws
   * `tool_missing`, `confinement_unavailable`, `agent_not_found`: it never falls back to an unconfined run.
   */
  wrap(spec: ConfineSpec): Promise<string[]>;
}

export interface ConfinementDeps {
  /** The engine's own environment: where bubblewrap is looked for. */
  env: NodeJS.ProcessEnv;
  /** The workspace's folder. */
  root: string;
  /** svc.yaml. */
  configFile: string;
  paths: { data: string; db: string; socket: string; agents: string; worktrees: string };
  /** Where keys of this machine are kept. */
  machineHome: string;
  /** Program and arguments that run `svc`. */
  svc: readonly string[] | null;
}

/** Variables that name what is hidden: sockets, and folders that are not there. */
const DROPPED = [
  ...['SSH_AUTH_SOCK', 'GIT_SSH', 'GIT_SSH_COMMAND', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'],
  ...['TMPDIR', 'TMP', 'TEMP'],
];

/** No key to sign with is visible, and what git does in the background writes where it may not. */
const GIT_SETTINGS = [
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
] as const;

const TRIAL_MS = 10_000;

const DOCS = 'docs/confinement.md says what it needs';

const unavailable = (what: string, hint: string, cause?: unknown): SvcError =>
  new SvcError('confinement_unavailable', `the worker cannot be confined: ${what}`, { hint, cause });

/** bubblewrap's path. Throws `tool_missing`, `confinement_unavailable`. */
function bubblewrap(path: string | undefined): string {
  if (process.platform !== 'linux')
    throw unavailable('bubblewrap exists for Linux only', 'set guard.profile to lite');
  const found = findProgram('bwrap', { cwd: sep, path });
  if (found !== undefined) return found;
  throw new SvcError('tool_missing', 'guard.profile is strict, and bwrap (bubblewrap) is not on PATH', {
    hint: 'install bubblewrap (Debian: apt install bubblewrap), or set guard.profile to lite for what starts from then on',
  });
}

/** What does not depend on the run. */
const namespaces = (): string[] => [
  // An ordinary user gets a namespace of users by itself; root would otherwise keep its rights.
  ...(process.getuid?.() === 0 ? ['--unshare-user', '--cap-drop', 'ALL'] : []),
  ...[
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
  ],
];

/** Runs bubblewrap once with `/bin/sh` and nothing to do. Throws `confinement_unavailable` with its own words. */
async function tryOut(program: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  await new Promise<void>((done, fail) => {
    const args = [...words, '--', '/bin/sh', '-c', ':'];
    const child = execFile(
      program,
      args,
      { env, timeout: TRIAL_MS, killSignal: 'SIGKILL' },
      (error, _, stderr) => {
        if (error === null) return done();
        const said = stderr.split('\n').find((line) => line.trim() !== '') ?? error.message;
        const isForbidden = /namespace|uid map|Operation not permitted|Permission denied/i.test(said);
        fail(
          unavailable(
            said.replace(/^bwrap: /, ''),
            isForbidden
              ? `this system lets no ordinary user make namespaces (AppArmor, sysctl, or a container); ${DOCS}`
              : DOCS,
            error,
          ),
        );
      },
    );
    child.stdin?.end();
  });
}

/** Whether workers can be confined here. Throws as `wrap` does. */
export async function checkConfinement(env: NodeJS.ProcessEnv): Promise<{ program: string }> {
  const program = bubblewrap(env.PATH);
  await tryOut(program, namespaces(), env);
  return { program };
}

const gitRulesOf = ({ isGuest, worktree }: ConfineSpec) =>
  isGuest ? lookingRules : worktree === null ? inplaceRules : worktreeRules;

/** Confines workers with bubblewrap. It keeps nothing: what a run may is decided anew for each. */
export function createConfinement(deps: ConfinementDeps): Confinement {
  const { root, configFile, paths, machineHome, svc } = deps;

  /** Folders of which a worker sees nothing, or only what is shown in them on purpose. */
  function hidden(home: string | null): Place[] {
    // A database or a socket of its own place is hidden with the folder around it: the file may be made anew.
    const apart = [paths.db, paths.socket].map(dirname).filter((folder) => !isWithin(paths.data, folder));
    return [
      ...['/tmp', '/var/tmp'].flatMap((path) => hiding(path, 'empty', '1777')),
      ...['/run', '/var/run'].flatMap((path) => hiding(path, 'shut')),
      ...(home === null ? [] : hiding(home, 'empty', '0700')),
      ...[machineHome, paths.data, paths.agents, paths.worktrees, ...apart].flatMap((path) =>
        hiding(path, 'shut'),
      ),
    ];
  }

  /** What a run sees, as rules: the deepest one that covers a path counts. */
  function rulesOf(spec: ConfineSpec, programs: readonly string[]): Place[] {
    const home = realOf(spec.env.HOME ?? '');
    const writable = spec.worktree ?? spec.cwd;
    if (home === sep) throw unavailable('its home folder is /', 'give the engine a HOME of its own');
    const git = gitFoldersOf(writable);
    if (spec.worktree !== null && git === null)
      throw unavailable(`${spec.worktree} is no worktree of git`, 'svc task retry makes a new one');
    const kept = join(spec.sessionFolder, 'agent');
    mkdirSync(kept, { recursive: true, mode: 0o700 });
    const hides = hidden(home);
    const hiddenFolders = hides.map(({ path }) => path);
    const { seatFolder } = spec;
    const seat: Place[] =
      seatFolder === null
        ? []
        : [
            { path: SEAT_FOLDER, show: 'read', from: realOf(seatFolder) ?? seatFolder },
            // Where every client looks first.
            {
              path: join(realOf(paths.data) ?? paths.data, 'daemon.json'),
              link: join(SEAT_FOLDER, 'daemon.json'),
            },
          ];
    const rules = [
      ...hides,
      // Names of hosts are looked up in what lies here on some systems.
      ...showing('/etc/resolv.conf', 'read'),
      ...showing('/run/current-system', 'read'),
      ...showing(root, 'read'),
      ...showing(configFile, 'read'),
      ...programRules({ env: spec.env, home, hidden: hiddenFolders, programs, svc, written: writable }),
      ...(home === null ? [] : homeRules(home, spec.home, join(realOf(kept) ?? kept, 'home'))),
      ...showing(writable, 'write'),
      ...(git === null ? [] : gitRulesOf(spec)(git)),
      ...showing(spec.sessionFolder, 'read'),
      ...showing(kept, spec.isGuest ? 'read' : 'write'),
      ...seat,
    ];
    // In place the configuration lies in what may be written, and it names programs that the engine runs.
    if (spec.worktree === null)
      rules.push(...[{ path: realOf(configFile) ?? configFile, show: 'read' } as const]);
    const real = realOf(writable) ?? writable;
    if (shownAt(real, rules) !== 'write')
      throw unavailable(
        `${writable} is a folder that has to be hidden`,
        'move the project into one of its own',
      );
    return rules;
  }

  return {
    async wrap(spec) {
      const bwrap = bubblewrap(deps.env.PATH);
      const program = programOf(spec.argv[0] ?? '', spec.cwd, spec.env.PATH);
      const { cwd, env } = spec;
      const agent = spec.program === undefined ? [] : programOf(spec.program, cwd, env.PATH);
      const places = rulesOf(spec, [program, ...[agent].flat()]);
      const settings = GIT_SETTINGS.flatMap(([name, value], at) => [
        ...['--setenv', `GIT_CONFIG_KEY_${at}`, name],
        ...['--setenv', `GIT_CONFIG_VALUE_${at}`, value],
      ]);
      const words = [
        ...namespaces(),
        ...mounts(places),
        ...DROPPED.flatMap((name) => ['--unsetenv', name]),
        ...['--setenv', 'GIT_CONFIG_COUNT', String(GIT_SETTINGS.length), ...settings],
        ...['--chdir', spec.cwd],
        ...(spec.endsWithParent ? ['--die-with-parent'] : []),
      ];
      if (!isFolder(spec.cwd))
        throw new SvcError('spawn_failed', `the worker's folder ${spec.cwd} does not exist`);
      await tryOut(bwrap, words, spec.env);
      const filter = spec.filterFd === undefined ? [] : ['--seccomp', String(spec.filterFd)];
      return [bwrap, ...words, ...filter, '--', program, ...spec.argv.slice(1)];
    },
  };
}
