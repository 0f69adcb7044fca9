import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readConfigFile, readSource, type YamlFile } from './source.ts';

/** The machine home: one person's files for every workspace. */
export interface MachineHome {
  path: string;
  /** `ai.yaml`, if it exists. */
  ai: YamlFile | undefined;
  /** The lines of `keys.env`. Secrets: never print them. */
  keys: ReadonlyMap<string, string>;
  /** Sentences for people, without any key. */
  warnings: string[];
}

/** Finds a secret by the name of its variable: the environment first, then `keys.env`. */
export type SecretLookup = (name: string) => string | undefined;

/** Reads the machine home; missing files are fine. */
export function readHome(path: string): MachineHome {
  const aiFile = join(path, 'ai.yaml');
  const keysFile = join(path, 'keys.env');
  const warnings: string[] = [];
  let keys = new Map<string, string>();
  if (existsSync(keysFile)) {
    const read = readConfigFile(keysFile);
    if ('problem' in read) warnings.push(`${keysFile} ${read.problem}`);
    else {
      const parsed = parseKeys(read.text);
      keys = parsed.keys;
      if (parsed.ignored.length > 0) {
        warnings.push(`${keysFile}: line ${parsed.ignored.join(', ')} is not NAME=VALUE and is ignored`);
      }
      if ((statSync(keysFile).mode & 0o077) !== 0) {
        warnings.push(`${keysFile} can be read by others; run: chmod 600 ${keysFile}`);
      }
    }
  }
  return { path, ai: existsSync(aiFile) ? readSource(aiFile) : undefined, keys, warnings };
}

/** Parses NAME=VALUE lines: comments, `export`, quotes. `ignored` are the numbers of other lines. */
export function parseKeys(text: string): { keys: Map<string, string>; ignored: number[] } {
  const keys = new Map<string, string>();
  const ignored: number[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const match = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(trimmed);
    const value = match && unquoteValue(match[2]!);
    if (match && value !== null && value !== undefined) keys.set(match[1]!, value);
    else ignored.push(index + 1);
  }
  return { keys, ignored };
}

function unquoteValue(text: string): string | null {
  const quoted = /^(?:'([^']*)'|"((?:[^"\\]|\\.)*)")\s*(?:#.*)?$/.exec(text);
  if (quoted)
    return quoted[1] ?? quoted[2]!.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
  return /^['"]/.test(text) ? null : text.replace(/(?:^|\s+)#.*$/, '');
}

/** Creates a lookup of secrets. An empty variable counts as unset, so that `keys.env` still applies. */
export const createSecretLookup =
  (env: NodeJS.ProcessEnv, home: Pick<MachineHome, 'keys'>): SecretLookup =>
  (name) =>
    env[name] || home.keys.get(name) || undefined;
