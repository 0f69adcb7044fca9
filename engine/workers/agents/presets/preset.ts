import type { RouteModels } from '../../../core/models/index.ts';
import type { AgentNotify } from '../notify-entry.ts';
import type { StreamReader } from '../streams/stream.ts';
import type { CommandLine } from './hook-event.ts';
import type { AgentHooks, HookLines } from './hooks.ts';

/** A server of the model context protocol on standard input and output, as configured for an agent. */
export interface McpServer extends CommandLine {
  /** Variables for the server only; most agents pass on their own as well. */
  env: Readonly<Record<string, string>>;
}

/** The route of an agent's model calls. The key itself is in the environment only, never in an argument. */
export interface GatewayRoute {
  /** Without a path, such as `http://127.0.0.1:8788`; protocols are below it: `/v1/messages`, `/v1/responses`, … */
  url: string;
  key: string;
  /** The known facts about its models; left out for none. */
  models?: RouteModels;
}

/** The variable of a run's virtual key, for agents that take its name. */
export const KEY_VARIABLE = 'SVC_VKEY';

/** The options of one run of an agent, in addition to its command. */
export interface RunWish {
  /** Served to the agent under the name svc. */
  mcp: McpServer | null;
  gateway: GatewayRoute | null;
  /** The command per event, which the agent runs unchanged. */
  hooks: HookLines | null;
  /** A folder of this session only, for files that the agent reads or writes; absolute, created when a file needs it. */
  folder: string;
  /** The other environment of the run. */
  env: Readonly<Record<string, string | undefined>>;
  /** True if a person is present to answer. */
  isAttended?: boolean;
}

/** The setup of one run, which leaves the person's own configuration untouched. */
export interface RunSetup {
  /** For `withArguments`. */
  args: string[];
  env: Record<string, string>;
  /** Written before the start, mode 0600; paths absolute, inside `RunWish.folder`. */
  files: { path: string; text: string }[];
}

/**
 * The parts of the person's home that a confined run gets; all paths are relative to it, and missing ones are
 * skipped. Only the login is writable, so that a worker leaves nothing there that runs later.
 */
export interface HomeShare {
  /** Folders of the agent that the session gets private copies of, kept as long as its log. */
  own: readonly string[];
  /** Files that are copied. */
  copied: readonly string[];
  /** Files that it reads and renews. */
  login: readonly string[];
  /** Files and folders that it only reads. */
  settings: readonly string[];
}

/** Shares an agent's folder and files in it. */
export const shareHomeFolder = (
  folder: string,
  { login = [], settings = [] }: Partial<Pick<HomeShare, 'login' | 'settings'>>,
): HomeShare => {
  const joinNames = (names: readonly string[]) => names.map((name) => `${folder}/${name}`);
  return { own: [folder], copied: [], login: joinNames(login), settings: joinNames(settings) };
};

/** A run that ended without reporting the id of its agent's own session. */
export interface RunLeft {
  /** The person's home, or the private one of a confined run, which the worker could write to. */
  home: string;
  /** The home or a folder around it; links below it are not followed. */
  top: string;
  /** The run's variables that name the agent's folders; empty for a confined run. */
  env: Readonly<Record<string, string | undefined>>;
  /** Links resolved. */
  cwd: string;
  /** The worker's name, as in `{{name}}`. */
  name: string;
  /** When svc created the run's session, Unix ms. */
  since: number;
  /** The agent's own session that the run resumed; null for a new one. */
  continued: string | null;
}

/** Everything about one agent program. One file each; `index.ts` lists them. */
export interface Preset {
  name: string;
  /** Names of its program, as the last part of a path: a user's own command may run it too. */
  programs: readonly string[];
  /** The headless command, see docs/use/workers.md; null if it only runs for a person. */
  headless: string | null;
  /** Like `headless`, for a prompt that is too long for one argument; null if the agent has to read the prompt file itself. */
  headlessLong: string | null;
  /** The options of `headless` that disable questions before tool calls; empty if it is null. */
  unasked: readonly string[];
  /** Opens it for a person. */
  interactive: string;
  /** Serves the agent client protocol on standard input and output; null if unsupported or unknown. */
  acp: string | null;
  notify: AgentNotify;
  /** Reads the headless command's output, printed at `now`, Unix ms; null for an unknown format. */
  reader: ((now: () => number) => StreamReader) | null;
  /** Builds the command that resumes the agent's own session; null if it cannot. */
  resume: ((argv: readonly string[], agentSession: string) => string[]) | null;
  /** Does the same for the interactive command. */
  resumeInteractive: ((argv: readonly string[], agentSession: string) => string[]) | null;
  /** Finds the agent's own session of a run that was killed before reporting its id; null if none is certain. */
  findSession?: (run: RunLeft) => Promise<string | null>;
  /** Builds arguments that trust these folders for a person's start, if the agent would ask and remember the answer. */
  trustFolders?: (folders: readonly string[]) => string[];
  /** The events at which it runs our hooks, and their configuration; null if none are known. */
  hooks: AgentHooks | null;
  /**
   * Escapes a prompt from an untrusted author so that the program passes it to its model and does not interpret it;
   * left out: no escaping.
   */
  literal?: (prompt: string) => string;
  /**
   * Sets up one run as far as the agent can be configured; the rest is left out, see `cannot`. Throws
   * `config_invalid`.
   */
  setUpRun(wish: RunWish): RunSetup;
  /** True if it has its own login that is used unless `agents.auth` is set. */
  auth: 'account' | 'gateway';
  /** True if the route is also in options: variables alone do not lead it to the gateway. */
  isRoutedByOptions?: true;
  /**
   * Finds a settings file of the person's or the project's that changes one of these variables for the agent, in
   * words that follow "because"; null for none. Used if no option can override it.
   */
  findOverride?: (
    names: readonly string[],
    run: { env: Readonly<Record<string, string | undefined>>; cwd: string },
  ) => string | null;
  /** Variables with a key that it uses, and pays by, instead of that login. */
  keysBeforeLogin?: readonly string[];
  /** True if it uses a separate home with its own conversations through the gateway, which are not found with its own login. */
  hasRoutedHome?: true;
  /** The parts of the person's home that a confined run sees. */
  home: HomeShare;
  /**
   * Unsupported features with its own login, each with a reason that follows "because": `gateway` refuses
   * `agents.auth: gateway`. A run may succeed without reporting what is listed in `UNTOLD`.
   */
  cannot: Partial<Record<'gateway' | 'mcp' | 'hooks' | 'headless' | 'literal' | Untold, string>>;
}

type Untold = keyof typeof UNTOLD;

/** Facts that an agent may never report, in words that follow "it does not say". */
export const UNTOLD = {
  usage: 'what it spent',
  refusal: 'when its model declines',
  length: 'when an answer was cut off',
} as const;

/** Lists what a run of the preset never reports; nothing is known about a person's own command. */
export const listUntold = (preset: Preset | null): string[] =>
  (Object.keys(UNTOLD) as Untold[]).flatMap((what) =>
    preset?.cannot[what] === undefined ? [] : UNTOLD[what],
  );

/** For presets that do not run as workers. */
export const NO_HOME: HomeShare = { own: [], copied: [], login: [], settings: [] };

/** For presets without options. */
export const NOTHING: RunSetup = { args: [], env: {}, files: [] };

/** Adds options where they are still parsed as options: before a `--`, otherwise at the end. */
export function withArguments(argv: readonly string[], more: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return end === -1 ? [...argv, ...more] : [...argv.slice(0, end), ...more, ...argv.slice(end)];
}
