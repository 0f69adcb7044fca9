import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { configuration } from '../../engine/index.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
/** Files that mention keys without using them: they declare, explain, accept or override keys. */
const SPEAKS_OF_KEYS =
  /config\/(?:schema|keys|example|environment|consent[\w-]*|cross-check|json-schema)\.ts$/;

const sources = ['engine', 'cli', 'tui'].flatMap((folder) =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !SPEAKS_OF_KEYS.test(join(folder, name)))
    .map((name) =>
      readFileSync(join(PROJECT, folder, name), 'utf8')
        .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
        .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
        // Loading resolves default paths below paths.data for every reader.
        .replace(/^.*\bmoveBelowData\(.*$/gm, ''),
    ),
);

/**
 * Ways in which source reads a key: by its dotted path, from its section, or as a member of a function that returns
 * the section.
 */
function readings(key: string): RegExp[] {
  const [name = '', section] = key.split('.').reverse();
  if (section === undefined) return [new RegExp(`\\bconfig(?:\\(\\))?\\.${name}\\b`)];
  const givenOn: Record<string, RegExp> = {
    bus: new RegExp(`\\bsection\\.${name}\\b`),
    guidance: new RegExp(`^  ${name}: (?:GUIDED_SEATS|\\[)`, 'm'),
    policy: new RegExp(`\\{[^{}]*\\b${name}\\b[^{}]*\\}: OperationPolicy\\b`),
  };
  return [
    new RegExp(`\\b${section}\\.${name}\\b`),
    new RegExp(`\\{[^{}]*\\b${name}\\b[^{}]*\\} = [^;]*\\b${section};`),
    ...(givenOn[section] === undefined ? [] : [givenOn[section]]),
  ];
}

test('every key is read, or is marked as pending with the reason', async () => {
  const { describeKeys } = await configuration();
  const isRead = (key: string): boolean =>
    readings(key).some((reading) => sources.some((text) => reading.test(text)));
  const keys = describeKeys();
  const keysOf = (wrong: typeof keys): string[] => wrong.map(({ key }) => key);
  assert.deepEqual(
    keysOf(keys.filter(({ key, pending }) => pending === null && !isRead(key))),
    [],
    'unused keys: mark them pending in their .meta',
  );
  assert.deepEqual(
    keysOf(keys.filter(({ key, pending }) => pending !== null && isRead(key))),
    [],
    'used keys: remove pending from their .meta',
  );
  assert.ok(keys.some(({ pending }) => pending !== null));
});
