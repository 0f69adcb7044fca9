import type { AgentNotify } from '../notify-entry.ts';
import type { StreamReader } from '../streams/stream.ts';
import type { CommandLine } from './hook-event.ts';
import type { AgentHooks, HookLines } from './hooks.ts';

/** A server of the model context protocol on standard input and output, as an agent is told to start it. */
export interface McpServer extends CommandLine {
  /** Variables for the server alone; most agents pass on their own as well. */
  env: Readonly<Record<string, string>>;
}

/** Where an agent's model calls go. The key itself is in the environment only, never in an argument. */
export interface GatewayRoute {
  /** Without a path, such as `http://127.0.0.1:8788`; protocols are below it: `/v1/messages`, `/v1/responses`, … */
  url: string;
  key: string;
}

/** The variable that a run's virtual key is in, for agents that take the name of one. */
export const KEY_VARIABLE = 'SVC_VKEY';

/** What one run of an agent is to be told beyond its command. */
export interface RunWish {
  /** Served to the agent under the name svc. */
  mcp: McpServer | null;
  gateway: GatewayRoute | null;
  /** The command per event, to be run by the agent as it is. */
  hooks: HookLines | null;
  /** A folder of the session alone, for files that the agent reads or keeps; absolute, made when a file needs it. */
  folder: string;
  /** The environment that the run has otherwise. */
  env: Readonly<Record<string, string | undefined>>;
  /** A person is there to answer; otherwise nobody is. */
  isAttended?: boolean;
}

/** How it is told: nothing of the person's own configuration is touched. */
export interface RunSetup {
  /** For `withArguments`. */
  args: string[];
  env: Record<string, string>;
  /** Written before the start, mode 0600; paths absolute, inside `RunWish.folder`. */
  files: { path: string; text: string }[];
}

/**
 * What a confined run of an agent has of the person's home; all paths below it, and what does not exist is left out.
 * Nothing of it can be written but the login, so that a worker leaves nothing there that is run later.
 */
export interface HomeShare {
  /** Folders of the agent that the session has private ones of, kept as long as its log. */
  own: readonly string[];
  /** Files of which it has a copy. */
  copied: readonly string[];
  /** Files that it reads and renews. */
  login: readonly string[];
  /** Files and folders that it only reads. */
  settings: readonly string[];
}

/** The folder of an agent with what is in it. */
export const shareHomeFolder = (
  folder: string,
  { login = [], settings = [] }: Partial<Pick<HomeShare, 'login' | 'settings'>>,
): HomeShare => {
  const joinNames = (names: readonly string[]) => names.map((name) => `${folder}/${name}`);
  return { own: [folder], copied: [], login: joinNames(login), settings: joinNames(settings) };
};

/** A run that has ended without telling the id of its agent's own session. */
export interface RunLeft {
  /** The person's home, or the private one of a confined run, which the worker could write to. */
  home: string;
  /** The home or a folder around it; no link below this one is followed. */
  top: string;
  /** The run's, as far as it says where the agent keeps things: nothing of a confined one. */
  env: Readonly<Record<string, string | undefined>>;
  /** Links resolved. */
  cwd: string;
  /** The worker's, as `{{name}}` has it. */
  name: string;
  /** When svc made the run's session, Unix ms. */
  since: number;
  /** The agent's own session that the run went on with; null when it began one. */
  continued: string | null;
}

/** Everything that svc knows of one agent program. One file each; `index.ts` lists them. */
export interface Preset {
  name: string;
  /** What its program is called, as the last part of a path: a command of the user's own may run it too. */
  programs: readonly string[];
  /** The headless command, see docs/workers.md; null when it only runs for a person. */
  headless: string | null;
  /** The same for a prompt that is too long for one argument; null when it has to read the prompt file itself. */
  headlessLong: string | null;
  /** Opens it for a person. */
  interactive: string;
  /** Serves the agent client protocol on standard input and output; null when it has no such way or none is known. */
  acp: string | null;
  notify: AgentNotify;
  /** Reads what the headless command prints, `now` being when that was, Unix ms; null when nothing is known of it. */
  reader: ((now: () => number) => StreamReader) | null;
  /** The command, continuing the agent's own session of that id; null when it cannot. */
  resume: ((argv: readonly string[], agentSession: string) => string[]) | null;
  /** The same for the interactive command. */
  resumeInteractive: ((argv: readonly string[], agentSession: string) => string[]) | null;
  /** The agent's own session of a run that was killed before it told the id; null when none is certainly that. */
  findSession?: (run: RunLeft) => Promise<string | null>;
  /** Words for a person's start that trust these folders, when it would ask, and keep the answer in its settings. */
  trustFolders?: (folders: readonly string[]) => string[];
  /** The moments at which it runs commands of ours, and how it is told of them; null when none are known. */
  hooks: AgentHooks | null;
  /** A stranger's prompt in a form that the program hands to its model and does not obey itself; left out: as it is. */
  literal?: (prompt: string) => string;
  /** What of a wish it can be told for one run; what it cannot is left out, see `cannot`. Throws `config_invalid`. */
  setUpRun(wish: RunWish): RunSetup;
  /** Whether it has a login of its own that is used unless `agents.auth` says otherwise. */
  auth: 'account' | 'gateway';
  /** Through the gateway it has a home of its own, with its conversations: with its own login it finds none of them. */
  hasRoutedHome?: true;
  /** What of the person's home a confined run sees. */
  home: HomeShare;
  /**
   * What it cannot with its own login, each with the reason, a clause that follows "because": `agents.auth: gateway` is
   * refused by `gateway`. Of `UNTOLD` a run may end well though it did not.
   */
  cannot: Partial<Record<'gateway' | 'mcp' | 'hooks' | 'headless' | 'literal' | Untold, string>>;
}

type Untold = keyof typeof UNTOLD;

/** What an agent may keep quiet about, in words that follow "it does not say". */
export const UNTOLD = {
  usage: 'what it spent',
  refusal: 'when its model declines',
  length: 'when an answer was cut off',
} as const;

/** What a run of the preset does not say; nothing is known of a command of the person's own. */
export const listUntold = (preset: Preset | null): string[] =>
  (Object.keys(UNTOLD) as Untold[]).flatMap((what) =>
    preset?.cannot[what] === undefined ? [] : UNTOLD[what],
  );

/** For presets that do not run as workers. */
export const NO_HOME: HomeShare = { own: [], copied: [], login: [], settings: [] };

/** For presets of which there is nothing to tell. */
export const NOTHING: RunSetup = { args: [], env: {}, files: [] };

/** The command with options added where they still count as options: before a `--`, else at the end. */
export function withArguments(argv: readonly string[], more: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return end === -1 ? [...argv, ...more] : [...argv.slice(0, end), ...more, ...argv.slice(end)];
}
