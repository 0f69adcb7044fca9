import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

/** Where what differs by operating system belongs. */
const PLACE = 'engine/core/platform/';

/** Files that may name a part of one system, each with its reason. */
const EXCEPTIONS: ReadonlyMap<RegExp, string> = new Map([
  [/^cli\/svc\.ts$/, 'refuses Windows before anything is loaded'],
  [/^engine\/core\/base\/find-program\.ts$/, 'the search path that all systems share'],
  [/^engine\/fleet\/hosts\//, 'scripts for the other machine, which is Linux'],
  [/^engine\/fleet\/broker\/broker-process\.ts$/, 'folders where packages install nats-server'],
  [/^cli\/commands\/engine\/server-install\.ts$/, 'a script for a Linux server'],
]);

const OF_ONE_SYSTEM =
  /process\.platform|['"`]\/(?:proc|sys)\b|\/sys\/fs\/cgroup|\/usr\/(?:s?bin|lib|local)\/|\b(?:SOL_SOCKET|LOCAL_PEERPID|renameat2|prctl|xdg-open)\b|['"`]koffi/;

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

test('what differs by operating system is in one folder', () => {
  const found = ['engine', 'cli', 'tui']
    .flatMap((folder) =>
      readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.tsx?$/.test(name))
        .map((name) => join(folder, name)),
    )
    .filter((path) => !path.startsWith(PLACE))
    .filter((path) => ![...EXCEPTIONS.keys()].some((pattern) => pattern.test(path)))
    .flatMap((path) =>
      withoutComments(readFileSync(join(PROJECT, path), 'utf8'))
        .split('\n')
        .filter((line) => OF_ONE_SYSTEM.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
  assert.deepEqual(found, []);
});

test('every exception of the rule is still needed', () => {
  for (const [pattern, reason] of EXCEPTIONS) {
    const files = ['engine', 'cli'].flatMap((folder) =>
      readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
        .map((name) => join(folder, name))
        .filter((path) => pattern.test(path) && path.endsWith('.ts')),
    );
    const isNeeded = files.some((path) =>
      OF_ONE_SYSTEM.test(withoutComments(readFileSync(join(PROJECT, path), 'utf8'))),
    );
    assert.ok(isNeeded, `${pattern}: ${reason}`);
  }
});
