import { basename } from 'node:path';
import { SvcError } from '../../engine/core/base/errors.ts';
import type { OwnWords } from './transcript.ts';

/** Settings that an agent needs, beyond its command, to work as a server of the protocol. */
interface Known {
  env?(env: NodeJS.ProcessEnv): Record<string, string>;
  /** It reports its own failures as text of its model, and ends its turn normally. */
  ownWords?: OwnWords;
}

const KNOWN: Readonly<Record<string, Known>> = {
  // It asks for permission only if its configuration says so.
  opencode: {
    env: ({ OPENCODE_CONFIG_CONTENT: given }) => ({ OPENCODE_CONFIG_CONTENT: addQuestions(given) }),
  },
  // No one has trusted the folder of a new worktree yet.
  gemini: { env: () => ({ GEMINI_CLI_TRUST_WORKSPACE: 'true' }) },
  copilot: { ownWords: { notice: /^(?:Info|Warning): /, error: /^Error: / } },
};

/** Variables to add for the program of a command. Throws `config_invalid`. */
export const findAgentEnvironment = (program: string, env: NodeJS.ProcessEnv): Record<string, string> =>
  KNOWN[basename(program)]?.env?.(env) ?? {};

export const findOwnWords = (program: string): OwnWords | null => KNOWN[basename(program)]?.ownWords ?? null;

/** Login methods that need only a key that the agent's environment already has. */
const KEYS: Readonly<Record<string, string>> = { 'gemini-api-key': 'GEMINI_API_KEY' };

/** Picks the login method whose key is in the environment. */
export const findKeyLogin = (methods: readonly string[], env: NodeJS.ProcessEnv): string | undefined =>
  methods.find((method) => env[KEYS[method] ?? ''] !== undefined);

const ASKED = ['edit', 'bash', 'webfetch'];

/** Returns the configuration with `ask` in place of everything it would allow; what it denies stays denied. */
function addQuestions(present: string | undefined): string {
  const config = parseConfig(present);
  const { permission = {} } = config;
  if (permission === 'deny') return JSON.stringify(config);
  const own = isObject(permission) ? permission : {};
  const asked = Object.fromEntries(ASKED.map((tool) => [tool, raiseToAsk(own[tool])]));
  return JSON.stringify({ ...config, permission: { ...own, ...asked } });
}

const raiseToAsk = (rule: unknown): unknown =>
  isObject(rule)
    ? Object.fromEntries(Object.entries(rule).map(([pattern, each]) => [pattern, raiseToAsk(each)]))
    : rule === 'deny'
      ? 'deny'
      : 'ask';

function parseConfig(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = text ? JSON.parse(text) : {};
    if (isObject(value)) return value;
  } catch {
    // Reported below without the text, which may hold keys.
  }
  throw new SvcError(
    'config_invalid',
    'OPENCODE_CONFIG_CONTENT is set to something that is not a JSON configuration',
    {
      hint: 'unset it, or correct it',
    },
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
